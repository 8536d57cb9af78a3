// MemoryJournal: a journal::Journal that keeps its records in memory, for tests of what appends.
//
// Purpose: records are durable as soon as they are appended, unless the test holds them back; the
// test can make it full or failed. Thread safety: any thread (one mutex; this is no benchmark).
// Invariants: it checks what a caller owes the journal: bytes appended were reserved before.
#pragma once

#include <holdfast/base/assert.hpp>
#include <holdfast/journal/journal.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace holdfast::test {

class MemoryJournal final : public journal::Journal {
public:
    struct Record {
        Lsn lsn{};
        journal::RecordType type{};
        std::uint8_t version{};
        std::vector<std::byte> payload;
    };

    [[nodiscard]] bool reserve(std::size_t bytes) noexcept override {
        if (auto const first = std::exchange(before_reserve_, nullptr)) first();
        std::scoped_lock const lock(mutex_);
        if (mode_ != journal::Mode::running || reserved_ + bytes > room_) return false;
        reserved_ += bytes;
        return true;
    }
    void give_back(std::size_t bytes) noexcept override {
        std::scoped_lock const lock(mutex_);
        HOLDFAST_ASSERT(bytes <= reserved_);
        reserved_ -= bytes;
    }
    Lsn append(journal::RecordType type, std::uint8_t version,
               std::span<std::byte const> payload) noexcept override {
        std::function<void()> then;
        Lsn lsn{};
        {
            std::scoped_lock const lock(mutex_);
            std::size_t const bytes = journal::record_header_bytes + payload.size();
            HOLDFAST_ASSERT(bytes <= reserved_);
            reserved_ -= bytes;
            lsn = Lsn{first_lsn_ + records_.size()};
            records_.push_back({lsn, type, version, {payload.begin(), payload.end()}});
            if (!held_back_ && mode_ != journal::Mode::failed) durable_ = lsn;
            then = std::exchange(after_append_, nullptr);
        }
        if (then) then();
        return lsn;
    }
    [[nodiscard]] Lsn durable_lsn() const noexcept override {
        std::scoped_lock const lock(mutex_);
        return durable_;
    }
    [[nodiscard]] Lsn appended_lsn() const noexcept override {
        std::scoped_lock const lock(mutex_);
        return newest();
    }
    [[nodiscard]] journal::Mode mode() const noexcept override {
        std::scoped_lock const lock(mutex_);
        return mode_;
    }
    [[nodiscard]] journal::Health health() const noexcept override {
        std::scoped_lock const lock(mutex_);
        journal::Health health;
        health.bytes_max = 1;
        health.bytes = full_ ? 2 : 1;
        return health;
    }
    /// Never blocks: what the test holds back will not become durable by waiting.
    [[nodiscard]] bool wait_durable(Lsn lsn) noexcept override {
        std::scoped_lock const lock(mutex_);
        ++waits_;
        return lsn <= durable_;
    }
    [[nodiscard]] bool keep_from(std::uint64_t) override { return true; }
    void close() noexcept override {}

    // For the test.
    [[nodiscard]] std::vector<Record> records() const {
        std::scoped_lock const lock(mutex_);
        return records_;
    }
    [[nodiscard]] std::size_t count(journal::RecordType type) const {
        std::scoped_lock const lock(mutex_);
        return static_cast<std::size_t>(std::count_if(
            records_.begin(), records_.end(), [type](Record const& r) { return r.type == type; }));
    }
    /// Bytes reserved and neither appended nor given back: 0 when nobody is at work.
    [[nodiscard]] std::size_t reserved() const {
        std::scoped_lock const lock(mutex_);
        return reserved_;
    }
    void set_mode(journal::Mode mode) {
        std::scoped_lock const lock(mutex_);
        mode_ = mode;
    }
    void set_full(bool full) {
        std::scoped_lock const lock(mutex_);
        full_ = full;
    }
    /// How often somebody was ready to wait for the disk.
    [[nodiscard]] std::size_t waits() const {
        std::scoped_lock const lock(mutex_);
        return waits_;
    }
    /// Over it reserve() refuses, as a full buffer does.
    void set_room(std::size_t bytes) {
        std::scoped_lock const lock(mutex_);
        room_ = bytes;
    }
    /// What another thread does just before the next reserve(), played by the caller's own.
    void before_reserve(std::function<void()> once) { before_reserve_ = std::move(once); }
    /// What others do just after the next append(), played by the caller's own thread.
    void after_append(std::function<void()> once) { after_append_ = std::move(once); }
    /// While on, records are appended but not durable; off makes all of them durable.
    void hold_back(bool on) {
        std::scoped_lock const lock(mutex_);
        held_back_ = on;
        if (!on) durable_ = newest();
    }

private:
    [[nodiscard]] Lsn newest() const noexcept {
        return records_.empty() ? no_lsn : records_.back().lsn;
    }

    static constexpr std::uint64_t first_lsn_ = 1;
    mutable std::mutex mutex_;
    std::vector<Record> records_;
    std::size_t reserved_{};
    std::size_t waits_{};
    std::size_t room_{1U << 20};
    Lsn durable_{};
    journal::Mode mode_{journal::Mode::running};
    bool full_{};  // as large as it may be
    bool held_back_{};
    std::function<void()> before_reserve_;
    std::function<void()> after_append_;
};

}  // namespace holdfast::test
