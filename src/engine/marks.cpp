#include "engine/mark_shelf.hpp"

#include <holdfast/engine/marks.hpp>

#include <mutex>
#include <utility>

namespace holdfast::engine {
namespace {

constexpr std::size_t mark_shards = 16;

}  // namespace

struct Marks::Shard {
    std::mutex mutex;
    MarkShelf shelf{MarkBounds{}};  // guarded by mutex
};

Marks::Marks(MarkBounds const& bounds, Lives lives)
    : lives_(std::move(lives)), shards_(std::make_unique<Shard[]>(mark_shards)) {
    MarkBounds const share{bounds.marks / mark_shards, bounds.unjournaled / mark_shards};
    for (std::size_t i = 0; i < mark_shards; ++i) shards_[i].shelf = MarkShelf{share};
}

Marks::~Marks() = default;

Marks::Shard& Marks::shard_of(MarkHash const& scope) const noexcept {
    return shards_[seeded(scope.high) % mark_shards];
}

Marks::Begun Marks::begin(Mark const& mark, TimePoint now) {
    Shard& shard = shard_of(mark.scope);
    std::scoped_lock const lock(shard.mutex);
    return shard.shelf.begin(mark, now);
}

void Marks::put(MarkEntry entry, bool journaled) {
    Shard& shard = shard_of(entry.mark.scope);
    std::scoped_lock const lock(shard.mutex);
    shard.shelf.put(std::move(entry), journaled, lives_);
}

void Marks::finish(MarkEntry entry) {
    put(std::move(entry), true);
}

void Marks::keep(Mark const& mark, TimePoint now, Answer const& answer, Lsn lsn) {
    put({mark, now, now + limits::mark_life, lsn, encode(answer)}, false);
}

void Marks::keep_refusal(Mark const& mark, TimePoint now, std::span<std::byte const> refusal) {
    AnswerBytes answer{std::byte{0}};
    answer.insert(answer.end(), refusal.begin(), refusal.end());
    put({mark, now, now + limits::mark_life, no_lsn, std::move(answer)}, false);
}

void Marks::forget(Mark const& mark) noexcept {
    Shard& shard = shard_of(mark.scope);
    std::scoped_lock const lock(shard.mutex);
    shard.shelf.forget(mark);
}

void Marks::restore(std::vector<MarkEntry> entries) {
    for (MarkEntry& entry : entries) put(std::move(entry), true);
}

MarkCounts Marks::counts() const {
    MarkCounts counts;
    for (std::size_t i = 0; i < mark_shards; ++i) {
        std::scoped_lock const lock(shards_[i].mutex);
        shards_[i].shelf.add_to(counts);
    }
    return counts;
}

}  // namespace holdfast::engine
