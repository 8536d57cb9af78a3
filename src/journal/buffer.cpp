#include "journal/buffer.hpp"

#include "journal/format.hpp"
#include "journal/straggler_watch.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace holdfast::journal {
namespace {

// Waits for another thread to finish a few instructions it has already begun.
template <class Condition>
void await(Condition const& condition) noexcept {
    for (int spin = 0; spin < 200; ++spin) {
        if (condition()) return;
    }
    StragglerWatch watch(std::chrono::steady_clock::now());
    while (!condition()) {
        std::this_thread::yield();
        bool const lasts = watch.lasts(std::chrono::steady_clock::now());
        HOLDFAST_ASSERT(lasts);
    }
}

// Where the largest record is less than the format's, what was reserved for one record must not be
// more than that: 2 * (c - l) is, by a byte or two, if c does not divide by three.
std::size_t limit_for(std::size_t capacity, std::size_t largest) {
    std::size_t const limit = (Buffer::block_count - 2) * (capacity - largest);
    return largest < limits::record_bytes_max ? std::min(limit, largest) : limit;
}

}  // namespace

Buffer::Buffer(std::size_t block_bytes, Lsn last_lsn)
    : capacity_(block_bytes - group_header_bytes),
      // With tiny segments a record may not take a whole block, or no limit could admit it.
      largest_record_(std::min(limits::record_bytes_max, capacity_ * 2 / 3)),
      limit_(limit_for(capacity_, largest_record_)),
      word_(FillWord{last_lsn.value(), 0, 0}.bits()) {
    HOLDFAST_ASSERT(block_bytes % page_bytes == 0);
    HOLDFAST_ASSERT(capacity_ < std::size_t{1} << FillWord::filled_bits);
    HOLDFAST_ASSERT(largest_record_ <= limit_);
    static_assert((FillWord::sequence_mask + 1) % block_count == 0);
    for (std::uint32_t at = 0; at < block_count; ++at) {
        blocks_[at] = std::make_unique<Block>(block_bytes);
        blocks_[at]->open_for.store(at, std::memory_order_relaxed);
    }
}

bool Buffer::reserve(std::size_t bytes) noexcept {
    if (bytes > limit_) return false;
    // acquire: see "Memory order" above. What was granted never exceeds the limit; a reservation
    // that is being refused may make another one fail too, which is only a refusal the more.
    std::size_t const before = reserved_.fetch_add(bytes, std::memory_order_acq_rel);
    if (before + bytes <= limit_) return true;
    reserved_.fetch_sub(bytes, std::memory_order_acq_rel);
    return false;
}

void Buffer::give_back(std::size_t bytes) noexcept {
    std::size_t const before = reserved_.fetch_sub(bytes, std::memory_order_acq_rel);
    HOLDFAST_ASSERT(before >= bytes);
}

Lsn Buffer::append(RecordType type, std::uint8_t version, std::span<std::byte const> payload,
                   std::atomic<std::uint64_t> const& durable) noexcept {
    std::size_t const bytes = record_header_bytes + payload.size();
    HOLDFAST_ASSERT(bytes <= largest_record_);
    std::uint64_t bits = word_.load(std::memory_order_relaxed);
    FillWord next{0};
    do {
        next = FillWord{bits}.with_record(bytes, capacity_);
        // seq_cst: the caller's Sleeper::wake() comes after it. It also passes on what the mover of
        // the word saw of the block (acq_rel).
    } while (!word_.compare_exchange_weak(bits, next.bits(), std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
    Block& mine = block(next.sequence());
    if (FillWord const before{bits}; before.sequence() != next.sequence()) {
        HOLDFAST_ASSERT(mine.open_for.load(std::memory_order_acquire) == next.sequence());
        // release: pairs with the acquire in close_oldest(); nothing but the word is read by it.
        block(before.sequence()).closed.store(bits, std::memory_order_release);
    }
    std::byte* const place =
        mine.bytes.span().data() + group_header_bytes + (next.filled() - bytes);
    encode_record_header(payload.size(), type, version, {place, record_header_bytes});
    if (!payload.empty()) {
        std::memcpy(place + record_header_bytes, payload.data(), payload.size());
    }
    // Read while our copy is not counted: our LSN is not durable yet, so this is less than it.
    std::uint64_t const near = durable.load(std::memory_order_relaxed);
    // release: publishes the copy; pairs with the acquire in take().
    mine.copied.fetch_add(static_cast<std::uint32_t>(bytes), std::memory_order_release);
    return Lsn{FillWord::extend(next.lsn_low(), near)};
}

Lsn Buffer::appended_lsn(std::atomic<std::uint64_t> const& durable) const noexcept {
    FillWord const word{word_.load(std::memory_order_acquire)};
    return Lsn{FillWord::extend(word.lsn_low(), durable.load(std::memory_order_acquire))};
}

bool Buffer::has_records() const noexcept {
    FillWord const word{word_.load()};
    return word.sequence() != (oldest_ & FillWord::sequence_mask) || word.filled() != 0;
}

FillWord Buffer::close_oldest(Block& oldest) noexcept {
    std::uint64_t bits = word_.load(std::memory_order_relaxed);
    while (FillWord{bits}.sequence() == oldest_) {
        HOLDFAST_ASSERT(FillWord{bits}.filled() != 0);
        std::uint64_t const next = FillWord{bits}.closed().bits();
        if (word_.compare_exchange_weak(bits, next, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
            return FillWord{bits};
        }
    }
    // A producer moved on; it stores this right after its CAS.
    await([&oldest] { return oldest.closed.load(std::memory_order_acquire) != 0; });
    return FillWord{oldest.closed.load(std::memory_order_acquire)};
}

std::optional<Buffer::Filled> Buffer::take() noexcept {
    if (!has_records()) return {};
    Block& oldest = block(oldest_);
    FillWord const last = close_oldest(oldest);
    await([&] { return oldest.copied.load(std::memory_order_acquire) == last.filled(); });
    taken_bytes_ = last.filled();
    std::size_t const total = group_bytes(taken_bytes_);
    std::span<std::byte> const group = oldest.bytes.span().first(total);
    std::size_t const used = group_header_bytes + taken_bytes_;
    std::memset(group.data() + used, 0, total - used);
    return Filled{group, taken_bytes_, last.lsn_low()};
}

void Buffer::release() noexcept {
    Block& oldest = block(oldest_);
    oldest.closed.store(0, std::memory_order_relaxed);
    oldest.copied.store(0, std::memory_order_relaxed);
    std::uint32_t const next_turn = (oldest_ + block_count) & FillWord::sequence_mask;
    // release: publishes the two stores above to whoever moves the word here.
    oldest.open_for.store(next_turn, std::memory_order_release);
    oldest_ = (oldest_ + 1) & FillWord::sequence_mask;
    give_back(taken_bytes_);
    taken_bytes_ = 0;
}

}  // namespace holdfast::journal
