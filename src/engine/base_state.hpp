// Base state: what a replay knows, as bytes; the content of the journal's base files.
//
// Purpose: little endian:
//   version u32 . events u32 x {
//     id u32 . places u32 . life u8 (0: no step yet)
//     slots u32 x generation u64                      of slot 0, 1, ...; those left out are 0
//     holds u32 x { ref u64 . holder u64 . created_at i64 . expires_at i64 . order 2 x u64
//                   . claimed lsn u64 . sold lsn u64 . seats u32 x u32 } }
//   and in version 2, which is written if there are any, the idempotency marks:
//   marks u32 x { scope 2 x u64 . request 2 x u64 . at i64 . keep_until i64 . lsn u64
//                 . answer u32 x u8 }
//   Nothing else of what the records said matters to a start: replay is a function of this and of
//   the records that follow (the LSNs are for its messages only).
// Thread safety: values. Cost: one pass; a hold of two seats takes 76 bytes.
#pragma once

#include "engine/fact_bytes.hpp"

#include <holdfast/engine/replay.hpp>

#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::engine {

inline constexpr std::uint32_t base_state_version = 1;         // a program without keys reads it
inline constexpr std::uint32_t marked_base_state_version = 2;  // it does not read this one
inline constexpr std::size_t base_event_bytes = 17;            // without generations and holds
inline constexpr std::size_t base_hold_bytes = 68;             // without seats
inline constexpr std::size_t base_mark_bytes = 60;             // without the answer

struct BaseEvent {
    EventId id{};
    std::uint32_t places{};
    std::optional<LifeStep> life;
    std::vector<std::uint64_t> generations;
    std::uint32_t holds{};  // that follow
};
struct BaseHold {
    RestoredHold hold;
    Lsn claimed{};
    Lsn sold{};
};

class BaseStateWriter {
public:
    /// `bytes`: about what will be written, so that room for it is made once.
    BaseStateWriter(std::size_t bytes, std::uint32_t version) {
        bytes_.reserve(bytes);
        put(version);
    }
    void count_events(std::uint32_t events) { put(events); }
    void put_event(BaseEvent const& event);
    void put_hold(BaseHold const& hold);
    void put_marks(std::span<MarkEntry* const> marks);
    [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }

private:
    template <class T>
    void put(T value) {
        static_assert(std::endian::native == std::endian::little);
        std::size_t const at = bytes_.size();
        bytes_.resize(at + sizeof value);
        std::memcpy(bytes_.data() + at, &value, sizeof value);
    }
    std::vector<std::byte> bytes_;
};

/// Reads what the writer wrote, in its order; good() says whether everything fitted so far.
class BaseStateReader {
public:
    explicit BaseStateReader(std::span<std::byte const> bytes)
        : reader_(bytes), version_(reader_.number<std::uint32_t>()) {
        reader_.require(version_ == base_state_version || version_ == marked_base_state_version);
    }
    [[nodiscard]] std::uint32_t events() { return reader_.number<std::uint32_t>(); }
    void event(BaseEvent& event);
    void hold(BaseHold& hold);
    /// After the events: how many follow.
    [[nodiscard]] std::uint32_t marks();
    void mark(MarkEntry& entry);
    [[nodiscard]] bool good() const noexcept { return reader_.good(); }
    /// Good, and nothing follows.
    [[nodiscard]] bool at_end() const noexcept { return reader_.at_end(); }
    /// After the events, for who needs no marks: reads over them, and whether all is at_end() then.
    [[nodiscard]] bool ends_behind_marks() {
        MarkEntry passed;
        for (std::uint32_t left = marks(); good() && left > 0; --left) mark(passed);
        return at_end();
    }

private:
    FactReader reader_;
    std::uint32_t version_;
};

}  // namespace holdfast::engine
