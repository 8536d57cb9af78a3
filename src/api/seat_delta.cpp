#include "api/seat_delta.hpp"

#include "api/event_documents.hpp"
#include "api/event_members.hpp"
#include "api/json_writer.hpp"

#include <array>
#include <string_view>

namespace holdfast::api {
namespace {

using engine::PlaceState;

constexpr std::array<std::string_view, 4> state_names{"free", "held", "sold", "blocked"};

std::string framed(std::string_view kind, std::uint64_t number, std::string_view data) {
    std::string out{kind};
    out.append("id: ");
    append_integer(out, static_cast<std::int64_t>(number));
    out.append("\ndata: ").append(data).append("\n\n");
    return out;
}

std::string listed(engine::LiveEvent const& event, engine::SeatFollower const& follower,
                   std::uint64_t number) {
    std::array<std::string, 4> lists;
    for (SeatIndex const seat : follower.touched()) {
        auto& list = lists[static_cast<std::size_t>(follower.state(seat))];
        if (!list.empty()) list += ',';
        append_integer(list, seat.value());
    }
    std::string out{"{"};
    append_integer_member(out, "seq", static_cast<std::int64_t>(number));
    for (std::size_t state = 0; state < lists.size(); ++state) {
        if (lists[state].empty()) continue;
        append_name(out, state_names[state]);
        out.append("[").append(lists[state]).append("]");
    }
    auto const general = follower.touched_general();
    if (!general.empty()) append_general(out, event, general);
    out += '}';
    return out;
}

}  // namespace

std::string seat_delta(engine::LiveEvent const& event, engine::SeatFollower const& follower,
                       std::uint64_t number) {
    std::string data = listed(event, follower, number);
    // Four letters for twelve seats; the rest is there in either.
    if (data.size() > event.spec().layout.labelled_count() / 3) {
        std::string whole = state_document(event, follower.states(), number);
        if (whole.size() < data.size()) data = std::move(whole);
    }
    return framed({}, number, data);
}

std::string resync_hint(std::uint64_t number) {
    std::string data{"{"};
    append_integer_member(data, "seq", static_cast<std::int64_t>(number));
    data += '}';
    return framed("event: resync\n", number, data);
}

}  // namespace holdfast::api
