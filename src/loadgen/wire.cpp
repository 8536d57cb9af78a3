#include "loadgen/wire.hpp"

#include <algorithm>
#include <boost/json.hpp>

namespace holdfast::loadgen {

namespace json = boost::json;

namespace {

/// Walks a reply; remembers the first thing that was not as it should be.
class Reader {
public:
    explicit Reader(std::string_view text) {
        boost::system::error_code ec;
        root_ = json::parse({text.data(), text.size()}, ec);
        if (ec) fail("the body is no JSON: " + ec.message());
        if (!ec && !root_.is_object()) fail("the body is no JSON object");
    }

    [[nodiscard]] json::object const& root() const {
        return root_.is_object() ? root_.get_object() : none_.get_object();
    }
    void fail(std::string why) {
        if (error_.empty()) error_ = std::move(why);
    }
    [[nodiscard]] bool good() const noexcept { return error_.empty(); }
    [[nodiscard]] Unreadable error() const { return {error_}; }

    std::string text(json::object const& from, std::string_view name) {
        auto const* value = from.if_contains({name.data(), name.size()});
        if (value != nullptr && value->is_string()) return json::value_to<std::string>(*value);
        fail("no text in the field " + std::string(name));
        return {};
    }
    std::string text_if_any(json::object const& from, std::string_view name) const {
        auto const* value = from.if_contains({name.data(), name.size()});
        bool const there = value != nullptr && value->is_string();
        return there ? json::value_to<std::string>(*value) : std::string{};
    }
    /// An id or token: goes into paths, fields and bodies as it is, so it may hold nothing odd.
    std::string word(json::object const& from, std::string_view name) {
        auto found = text(from, name);
        auto const plain = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_' || c == '-' || c == '.' || c == '=';
        };
        if (found.empty() || !std::all_of(found.begin(), found.end(), plain)) {
            fail("an odd character in the field " + std::string(name));
        }
        return found;
    }
    std::int64_t number(json::object const& from, std::string_view name) {
        auto const* value = from.if_contains({name.data(), name.size()});
        if (value != nullptr && value->is_int64()) return value->get_int64();
        fail("no integer in the field " + std::string(name));
        return 0;
    }
    std::uint32_t count(json::object const& from, std::string_view name) {
        auto const value = number(from, name);
        if (value >= 0 && value <= UINT32_MAX) return static_cast<std::uint32_t>(value);
        fail("a count out of range in the field " + std::string(name));
        return 0;
    }
    json::array const& list(json::object const& from, std::string_view name) {
        auto const* value = from.if_contains({name.data(), name.size()});
        if (value != nullptr && value->is_array()) return value->get_array();
        fail("no list in the field " + std::string(name));
        return no_items_;
    }
    json::object const& object(json::value const& value) {
        if (value.is_object()) return value.get_object();
        fail("a list has an item that is no object");
        return none_.get_object();
    }

    void add_seat(Places& places, std::string const& name, Venue const& venue) {
        auto const found = venue.seat_index.find(name);
        if (found == venue.seat_index.end()) {
            fail("the map has no seat named " + name);
        } else {
            places.seats.push_back(found->second);
        }
    }
    void add_general(Places& places, std::string const& section, std::uint32_t quantity,
                     Venue const& venue) {
        auto const found = venue.area_index.find(section);
        if (found == venue.area_index.end()) {
            fail("the map has no general-admission section named " + section);
        } else if (quantity > 0) {
            places.general[found->second] += quantity;
        }
    }
    void sort_seats(Places& places) {
        std::sort(places.seats.begin(), places.seats.end());
        auto const twice = std::adjacent_find(places.seats.begin(), places.seats.end());
        if (twice != places.seats.end()) fail("a seat is twice in one list");
    }

private:
    json::value root_;
    json::value const none_ = json::object{};
    json::array const no_items_;
    std::string error_;
};

void read_row(Reader& reader, json::object const& row, Venue& venue) {
    auto const& seats = reader.list(row, "seats");
    auto const first = reader.count(row, "first");
    if (first != venue.seats.size()) reader.fail("the rows of the map are not in seat order");
    venue.rows.push_back({first, static_cast<std::uint32_t>(seats.size())});
    for (auto const& seat : seats) {
        auto const& members = reader.object(seat);
        auto name = reader.text(members, "name");
        auto const* const joined = members.if_contains("joined");
        venue.joined.push_back(joined != nullptr && *joined == json::value(true));
        auto const index = static_cast<std::uint32_t>(venue.seats.size());
        if (!venue.seat_index.emplace(name, index).second) reader.fail("two seats are " + name);
        venue.seats.push_back(std::move(name));
    }
}

Ticket read_ticket(Reader& reader, json::object const& from, Places& places, Venue const& venue) {
    Ticket ticket{.id = reader.text(from, "ticket"), .place = 0, .general = !from.contains("seat")};
    if (ticket.general) {
        auto const section = reader.text(from, "section");
        reader.add_general(places, section, 1, venue);
        if (reader.good()) ticket.place = venue.area_index.at(section);
    } else {
        reader.add_seat(places, reader.text(from, "seat"), venue);
        if (reader.good()) ticket.place = places.seats.back();
    }
    return ticket;
}

Counts read_counts(Reader& reader, json::object const& from) {
    return {.free = reader.count(from, "free"),
            .held = reader.count(from, "held"),
            .sold = reader.count(from, "sold"),
            .blocked = reader.count(from, "blocked")};
}

}  // namespace

Readable<Venue> read_venue(std::string_view text) {
    Reader reader(text);
    Venue venue;
    for (auto const& item : reader.list(reader.root(), "sections")) {
        auto const& section = reader.object(item);
        auto const id = reader.text(section, "id");
        auto& capacity = venue.section_capacity[id];
        if (section.contains("capacity")) {
            auto const area = static_cast<std::uint32_t>(venue.areas.size());
            venue.area_index.emplace(id, area);
            venue.areas.push_back({id, reader.count(section, "capacity")});
            capacity += venue.areas.back().capacity;
        } else {
            auto const seats_before = venue.seats.size();
            for (auto const& row : reader.list(section, "rows")) {
                read_row(reader, reader.object(row), venue);
            }
            capacity += venue.seats.size() - seats_before;
        }
    }
    if (!reader.good()) return reader.error();
    return venue;
}

Readable<Snapshot> read_snapshot(std::string_view text, Venue const& venue) {
    Reader reader(text);
    Snapshot snapshot;
    auto states = decode_states(reader.text(reader.root(), "seats"), venue.seats.size());
    if (!states) reader.fail("the states do not fit the seats of the map");
    snapshot.areas.resize(venue.areas.size());
    std::size_t areas = 0;
    for (auto const& item : reader.list(reader.root(), "general")) {
        auto const& area = reader.object(item);
        auto const found = venue.area_index.find(reader.text(area, "section"));
        if (found == venue.area_index.end()) {
            reader.fail("the state has a section that the map has not");
        } else {
            snapshot.areas[found->second] = read_counts(reader, area);
            ++areas;
        }
    }
    if (areas != venue.areas.size()) reader.fail("the state has not every section once");
    if (!reader.good()) return reader.error();
    snapshot.seats = std::move(*states);
    return snapshot;
}

Readable<EventReply> read_event(std::string_view text) {
    Reader reader(text);
    EventReply event;
    event.state = reader.text(reader.root(), "state");
    if (reader.root().contains("availability")) {
        for (auto const& item : reader.list(reader.root(), "availability")) {
            auto const& section = reader.object(item);
            auto const id = reader.text(section, "section");
            event.capacity[id] += reader.count(section, "capacity");
            if (!event.sections.emplace(id, read_counts(reader, section)).second) {
                reader.fail("a section is twice in the availability");
            }
        }
    }
    if (!reader.good()) return reader.error();
    return event;
}

Readable<HoldReply> read_hold(std::string_view text, Venue const& venue) {
    Reader reader(text);
    auto const& root = reader.root();
    HoldReply hold;
    hold.id = reader.word(root, "hold");
    if (root.contains("token")) hold.token = reader.word(root, "token");
    hold.state = reader.text(root, "state");
    if (root.contains("order")) hold.order = reader.word(root, "order");
    hold.total = reader.number(root, "total");
    for (auto const& seat : reader.list(root, "seats")) {
        if (!seat.is_string()) reader.fail("a seat of the hold is no text");
        if (reader.good()) reader.add_seat(hold.places, json::value_to<std::string>(seat), venue);
    }
    for (auto const& item : reader.list(root, "general")) {
        auto const& line = reader.object(item);
        reader.add_general(hold.places, reader.text(line, "section"),
                           reader.count(line, "quantity"), venue);
    }
    reader.sort_seats(hold.places);
    if (!reader.good()) return reader.error();
    return hold;
}

Readable<OrderReply> read_order(std::string_view text, Venue const& venue) {
    Reader reader(text);
    auto const& root = reader.root();
    OrderReply order;
    order.id = reader.word(root, "order");
    order.state = reader.text(root, "state");
    order.total = reader.number(root, "total");
    for (auto const& item : reader.list(root, "tickets")) {
        auto const& ticket = reader.object(item);
        order.tickets.push_back(read_ticket(reader, ticket, order.places, venue));
    }
    reader.sort_seats(order.places);
    if (!reader.good()) return reader.error();
    std::sort(order.tickets.begin(), order.tickets.end(),
              [](Ticket const& a, Ticket const& b) { return a.id < b.id; });
    return order;
}

ProblemReply read_problem(std::string_view text) {
    Reader reader(text);
    return {.code = reader.text_if_any(reader.root(), "code"),
            .order = reader.text_if_any(reader.root(), "order")};
}

}  // namespace holdfast::loadgen
