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
    MarkBounds const share{bounds.marks / mark_shards, bounds.refusals / mark_shards};
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

void Marks::finish(MarkEntry entry) {
    MarkShelf::Items gone;  // freed behind the lock
    Shard& shard = shard_of(entry.mark.scope);
    std::scoped_lock const lock(shard.mutex);
    shard.shelf.put(std::move(entry), lives_, gone);
}

void Marks::keep_refusal(Mark const& mark, TimePoint now, AnswerBytes refusal,
                         std::optional<std::uint64_t> whose) {
    MarkShelf::Items gone;
    Shard& shard = shard_of(mark.scope);
    std::scoped_lock const lock(shard.mutex);
    shard.shelf.put_refusal({mark, now, now + limits::mark_life, no_lsn, std::move(refusal)}, whose,
                            gone);
}

void Marks::keep_reply(Mark const& mark, TimePoint now, AnswerBytes reply) {
    MarkShelf::Items gone;
    Shard& shard = shard_of(mark.scope);
    std::scoped_lock const lock(shard.mutex);
    shard.shelf.put_reply({mark, now, now + limits::mark_life, no_lsn, std::move(reply)}, gone);
}

void Marks::forget(Mark const& mark) noexcept {
    Shard& shard = shard_of(mark.scope);
    std::scoped_lock const lock(shard.mutex);
    shard.shelf.forget(mark);
}

void Marks::restore(std::vector<MarkEntry> entries) {
    for (std::size_t i = 0; i < mark_shards; ++i) {
        std::scoped_lock const lock(shards_[i].mutex);
        shards_[i].shelf.reserve();
    }
    for (MarkEntry& entry : entries) finish(std::move(entry));
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
