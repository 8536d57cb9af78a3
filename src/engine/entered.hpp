// What a verb takes before its change, and gives back unless the change happens.
//
// Thread safety: one thread an object. Invariants: nothing is left entered or reserved.
#pragma once

#include "engine/sale.hpp"

#include <holdfast/base/assert.hpp>

#include <span>
#include <utility>
#include <vector>

namespace holdfast::engine {

/// Holds entered for one change that happens to all of them or none.
class Entered {
public:
    /// `fallback`: the state they go back to if the change does not happen. Room for all of them is
    /// made here: nothing may fail between entering a hold and noting it.
    Entered(inventory::State fallback, std::size_t holds) : fallback_(fallback) {
        edits_.reserve(holds);
    }
    Entered(Entered const&) = delete;
    Entered& operator=(Entered const&) = delete;
    ~Entered() {
        for (auto const& [sale, edit] : edits_) sale->inventory().holds.leave(edit, fallback_);
    }

    void add(Sale& sale, inventory::Edit const& edit) noexcept {
        HOLDFAST_ASSERT(edits_.size() < edits_.capacity());
        edits_.emplace_back(&sale, edit);
    }
    template <class Leave>
    void leave_all(Leave leave) {
        for (auto const& [sale, edit] : edits_) leave(sale->inventory().holds, edit);
        edits_.clear();
    }

    /// The change happens, and others leave the holds.
    void dismiss() noexcept { edits_.clear(); }

private:
    inventory::State fallback_;
    std::vector<std::pair<Sale*, inventory::Edit>> edits_;
};

/// Room in the journal that is given back unless it was used.
class Space {
public:
    Space(journal::Journal& journal, std::size_t payload_bytes)
        : journal_(journal),
          bytes_(journal::record_header_bytes + payload_bytes),
          held_(journal.reserve(bytes_)) {}
    Space(Space const&) = delete;
    Space& operator=(Space const&) = delete;
    ~Space() {
        if (held_) journal_.give_back(bytes_);
    }
    [[nodiscard]] bool held() const noexcept { return held_; }
    /// Room for so many bytes more. False: there is none.
    [[nodiscard]] bool grow(std::size_t bytes) {
        HOLDFAST_ASSERT(held_);
        if (bytes != 0 && !journal_.reserve(bytes)) return false;
        bytes_ += bytes;
        return true;
    }
    Lsn append(journal::RecordType type, std::span<std::byte const> payload) {
        HOLDFAST_ASSERT(held_ && payload.size() + journal::record_header_bytes == bytes_);
        held_ = false;
        return journal_.append(type, fact_version, payload);
    }

private:
    journal::Journal& journal_;
    std::size_t bytes_;
    bool held_;
};

[[nodiscard]] inline std::vector<HoldKey> keys_of(std::span<HoldName const> holds) {
    std::vector<HoldKey> keys;
    for (HoldName const& hold : holds) keys.push_back({hold.event, hold.ref});
    return keys;
}

}  // namespace holdfast::engine
