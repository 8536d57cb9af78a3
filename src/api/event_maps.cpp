#include "api/conditional_reply.hpp"
#include "api/event_documents.hpp"

#include <holdfast/api/event_maps.hpp>

#include <chrono>
#include <utility>
#include <vector>

namespace holdfast::api {
namespace {

constexpr std::chrono::hours kept_unread{1};

EventMaps::Bytes make_map(EventSpec const& spec) {
    auto made = std::make_shared<TaggedBytes>();
    made->body = map_document(spec);
    made->tag = entity_tag(made->body);
    return made;
}

}  // namespace

EventMaps::Bytes EventMaps::find(EventId event, TimePoint now) {
    std::lock_guard const lock(mutex_);
    auto const known = entries_.find(event);
    if (known == entries_.end()) return nullptr;
    known->second.asked_at = now;
    return known->second.map;
}

EventMaps::Bytes EventMaps::make(engine::LiveEvent const& event, TimePoint now) {
    std::unique_lock lock(mutex_);
    Entry& entry = entries_[event.spec().id];
    entry.event = &event;
    entry.asked_at = now;
    made_.wait(lock, [&entry] { return !entry.is_being_made; });
    if (entry.map != nullptr) return entry.map;
    entry.is_being_made = true;
    lock.unlock();
    Bytes map;
    try {
        map = make_map(event.spec());
    } catch (...) {
        lock.lock();
        entry.is_being_made = false;
        made_.notify_all();
        throw;
    }
    lock.lock();
    entry.is_being_made = false;
    entry.map = map;
    made_.notify_all();
    return map;
}

void EventMaps::drop_unread(TimePoint now) {
    std::vector<Bytes> dropped;  // ends after the lock: to free megabytes takes its time
    std::lock_guard const lock(mutex_);
    for (auto& [id, entry] : entries_) {
        if (entry.map == nullptr || now - entry.asked_at < kept_unread) continue;
        if (is_over(entry.event->state(now))) dropped.push_back(std::exchange(entry.map, nullptr));
    }
}

std::size_t EventMaps::bytes() const {
    std::size_t sum = 0;
    std::lock_guard const lock(mutex_);
    for (auto const& [id, entry] : entries_)
        if (entry.map != nullptr) sum += entry.map->body.size();
    return sum;
}

}  // namespace holdfast::api
