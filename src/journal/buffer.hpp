// Buffer: where producers put records, without a lock, until the journal thread writes them.
//
// Four blocks take turns. Producers share out the filling one by CAS on a FillWord; the one whose
// record does not fit moves the word on to the next block. The journal thread takes blocks in
// order, and may close the filling one early, but only when every block before it was released.
//
// Thread safety: reserve, give_back, append, appended_lsn: any thread. take and release: the
//   journal thread.
// Invariants: an append out of a reservation never waits and never fails. Proof: let c be a block's
//   capacity, l the largest record, B the number of blocks, and suppose that the word moves on to
//   block s + 1 while block s + 1 - B is not released. Then none of s + 1 - B ... s is. Of these
//   only the oldest can have been closed early; each of the B - 1 others was closed by a record
//   that did not fit, so it, or for s it and the record at hand, holds more than c - l bytes. All
//   of them are reserved and not released, together more than (B - 1)(c - l); but reservations
//   never exceed limit <= (B - 2)(c - l).
//   The number of records needs no bound here: the journal thread cuts a block that holds more than
//   8192 into several groups.
//   Memory order: of the reservations behind those records the newest comes after the release of
//   block s + 1 - B in the order of reserved_ (else the limit would be exceeded there), and its
//   append comes before the move in the order of word_. So the mover sees the block emptied.
// Cost: reserve one fetch_add; append one CAS, one copy, one fetch_add.
#pragma once

#include "journal/aligned_bytes.hpp"
#include "journal/word.hpp"

#include <holdfast/journal/journal.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace holdfast::journal {

inline constexpr std::size_t cache_line_bytes = 64;

class Buffer {
public:
    static constexpr std::uint32_t block_count = 4;

    /// `block_bytes` is a group's largest size on disk, header included.
    Buffer(std::size_t block_bytes, Lsn last_lsn);

    [[nodiscard]] bool reserve(std::size_t bytes) noexcept;
    void give_back(std::size_t bytes) noexcept;
    /// `durable` is any LSN within 2^39 of the new one.
    Lsn append(RecordType type, std::uint8_t version, std::span<std::byte const> payload,
               std::atomic<std::uint64_t> const& durable) noexcept;
    [[nodiscard]] Lsn appended_lsn(std::atomic<std::uint64_t> const& durable) const noexcept;

    struct Filled {
        std::span<std::byte> group;  // room for the header, then the records, then padding
        std::size_t payload_bytes{};
        std::uint64_t lsn_low{};  // of the last record in it
    };
    /// The oldest block that holds records, closed and with every copy finished. Empty: none does.
    [[nodiscard]] std::optional<Filled> take() noexcept;
    /// Gives the block of the last take() back to the producers.
    void release() noexcept;

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::size_t largest_record() const noexcept { return largest_record_; }
    [[nodiscard]] std::size_t limit() const noexcept { return limit_; }

private:
    struct alignas(cache_line_bytes) Block {
        explicit Block(std::size_t size) : bytes(size) {}
        AlignedBytes bytes;
        std::atomic<std::uint64_t> closed{0};    // the word it was left with; 0: still filling
        std::atomic<std::uint32_t> copied{0};    // bytes in place
        std::atomic<std::uint32_t> open_for{0};  // the sequence number that may fill it
    };
    [[nodiscard]] Block& block(std::uint32_t sequence) noexcept {
        return *blocks_[sequence % block_count];
    }
    /// Whether the filling block holds records, or was moved on from.
    [[nodiscard]] bool has_records() const noexcept;
    [[nodiscard]] FillWord close_oldest(Block& oldest) noexcept;

    std::size_t const capacity_;
    std::size_t const largest_record_;
    std::size_t const limit_;
    std::array<std::unique_ptr<Block>, block_count> blocks_;
    std::uint32_t oldest_{0};     // sequence number; journal thread only
    std::size_t taken_bytes_{0};  // journal thread only
    alignas(cache_line_bytes) std::atomic<std::uint64_t> word_;
    alignas(cache_line_bytes) std::atomic<std::size_t> reserved_{0};
};

}  // namespace holdfast::journal
