// SimJournal: the real journal without its threads, and a copy of all that was appended to it.
//
// Thread safety: one thread. The world says when a group is written.
#pragma once

#include "journal/journal_core.hpp"

#include <holdfast/journal/journal.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace holdfast::sim {

struct TapeRecord {
    journal::RecordType type{};
    std::uint8_t version{};
    std::vector<std::byte> payload;
    friend bool operator==(TapeRecord const&, TapeRecord const&) = default;
};
/// Record n has LSN n + 1.
using Tape = std::vector<TapeRecord>;

class SimJournal final : public journal::Journal, journal::DurableListener {
public:
    SimJournal(journal::Options const& options, journal::Disk& disk, Clock const& clock,
               journal::Tail const& tail, Tape& tape)
        : core_(options, disk, clock, tail, *this, [] {}), tape_(tape) {}

    [[nodiscard]] journal::JournalCore& core() noexcept { return core_; }
    /// Bytes reserved and neither appended nor given back; 0 between two verbs.
    [[nodiscard]] std::size_t reserved() const noexcept { return reserved_; }

    [[nodiscard]] bool reserve(std::size_t bytes) noexcept override {
        if (!core_.reserve(bytes)) return false;
        reserved_ += bytes;
        return true;
    }
    void give_back(std::size_t bytes) noexcept override {
        core_.give_back(bytes);
        reserved_ -= bytes;
    }
    Lsn append(journal::RecordType type, std::uint8_t version,
               std::span<std::byte const> payload) noexcept override {
        reserved_ -= journal::record_header_bytes + payload.size();
        tape_.push_back({type, version, {payload.begin(), payload.end()}});
        return core_.append(type, version, payload);
    }
    [[nodiscard]] Lsn durable_lsn() const noexcept override { return core_.durable_lsn(); }
    [[nodiscard]] Lsn appended_lsn() const noexcept override { return core_.appended_lsn(); }
    [[nodiscard]] journal::Mode mode() const noexcept override { return core_.mode(); }
    /// No verb of the engine waits; those who do are outside of it.
    [[nodiscard]] bool wait_durable(Lsn lsn) noexcept override { return lsn <= durable_lsn(); }
    [[nodiscard]] bool keep_from(std::uint64_t segment) override {
        return core_.upkeep().keep_from(segment);
    }
    void close() noexcept override {}

private:
    void durable_advanced() noexcept override {}

    journal::JournalCore core_;
    Tape& tape_;
    std::size_t reserved_{};
};

}  // namespace holdfast::sim
