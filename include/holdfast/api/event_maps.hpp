// Event maps: the ready bytes of GET /v1/events/{event}/map.
//
// Purpose: to write the map of a million places takes a fifth of a second, so it is made where the
//   seats are built, or by the worker of the first who asks; an io thread only looks whether it is
//   there.
// Thread safety: any thread; one mutex, never held while a map is made. make() not on an io thread.
// Invariants: there is one copy of an event's map, but for a dropped one that is still being sent.
// Cost: about 60 bytes a place for as long as the event is not over.
#pragma once

#include <holdfast/engine/engine.hpp>

#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace holdfast::api {

struct TaggedBytes;

class EventMaps {
public:
    using Bytes = std::shared_ptr<TaggedBytes const>;

    /// Null: it is to be made first.
    [[nodiscard]] Bytes find(EventId event, TimePoint now);
    /// Makes it unless it is there; whoever comes meanwhile waits.
    Bytes make(engine::LiveEvent const& event, TimePoint now);
    /// Drops those of events that are over and that nobody has asked for in an hour. Who asks again
    /// has it made again.
    void drop_unread(TimePoint now);
    /// Of all that are there.
    [[nodiscard]] std::size_t bytes() const;

private:
    struct Entry {
        engine::LiveEvent const* event{};
        Bytes map;
        TimePoint asked_at{};
        bool is_being_made{};
    };

    mutable std::mutex mutex_;
    std::condition_variable made_;
    std::map<EventId, Entry> entries_;  // grows only, so that who waits finds its entry again
};

}  // namespace holdfast::api
