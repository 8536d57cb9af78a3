#include "api/hold_document.hpp"

#include "api/json_writer.hpp"

#include <holdfast/http/problem.hpp>

#include <algorithm>

namespace holdfast::api {

using namespace std::string_view_literals;  // see json_writer.cpp

namespace {

std::string_view to_text(engine::HoldState state) {
    switch (state) {
        case engine::HoldState::held:
            return "held";
        case engine::HoldState::confirmed:
            return "confirmed";
        case engine::HoldState::blocked:
            break;
    }
    return "blocked";
}

}  // namespace

std::string_view to_text(engine::BlockKind kind) noexcept {
    return kind == engine::BlockKind::not_for_sale ? "not-for-sale" : "blocked";
}

namespace {

/// Rounded down, so that nobody counts longer than the hold lives.
void append_expiry(std::string& out, engine::HoldView const& hold, TimePoint now) {
    bool const ends = hold.state != engine::HoldState::confirmed && hold.expires_at != no_deadline;
    append_name(out, "expires_at");
    append_time(out, ends ? hold.expires_at : no_deadline);
    append_name(out, "expires_in_s");
    if (!ends) {
        out += "null";
        return;
    }
    std::int64_t const left = std::max<std::int64_t>((hold.expires_at - now).count(), 0);
    append_integer(out, left / 1'000);
}

}  // namespace

void append_places(std::string& out, Layout const& layout, std::span<SeatIndex const> seats) {
    append_name(out, "seats");
    out += '[';
    std::size_t at = 0;
    for (; at < seats.size() && seats[at].value() < layout.labelled_count(); ++at) {
        append_separator(out);
        http::append_json_string(out, layout.name_of(seats[at]));
    }
    out += ']';
    append_name(out, "general");
    out += '[';
    while (at < seats.size()) {
        SectionIndex const index = layout.section_of(seats[at]);
        Section const& section = layout.sections()[index.value()];
        std::uint32_t const end = section.first.value() + section.capacity;
        std::size_t const start = at;
        while (at < seats.size() && seats[at].value() < end) ++at;
        append_separator(out);
        out += "{\"section\":"sv;
        http::append_json_string(out, section.id);
        append_name(out, "quantity");
        append_integer(out, static_cast<std::int64_t>(at - start));
        out += '}';
    }
    out += ']';
}

namespace {

void append_left_out(std::string& out, Layout const& layout, std::span<SeatIndex const> seats) {
    append_name(out, "left_out");
    out += '[';
    for (SeatIndex const seat : seats) {
        append_separator(out);
        http::append_json_string(out, layout.name_of(seat));
    }
    out += ']';
}

}  // namespace

void append_hold(std::string& out, HoldDocument const& document) {
    auto const& [spec, hold, seats, now, id, token, left_out] = document;
    // Few and long pieces: an append costs more than the bytes.
    out += '{';
    if (!id.empty()) out.append("\"hold\":\""sv).append(id).append("\","sv);
    if (!token.empty()) out.append("\"token\":\""sv).append(token).append("\","sv);
    out.append("\"event\":\""sv).append(spec.slug).append("\",\"state\":"sv);
    append_plain(out, id.empty() ? "preview" : to_text(hold.state));
    if (hold.state == engine::HoldState::confirmed) {
        append_name(out, "order");
        append_plain(out, engine::to_text(hold.order));
    }
    if (hold.state == engine::HoldState::blocked) {
        append_name(out, "kind");
        append_plain(out, to_text(hold.block));
    }
    append_places(out, spec.layout, seats);
    out.append(hold.together ? ",\"together\":true,\"total\":"sv
                             : ",\"together\":false,\"total\":"sv);
    append_integer(out, hold.total);
    out.append(",\"currency\":"sv);
    http::append_json_string(out, spec.currency);
    out.append(",\"server_time\":"sv);
    append_time(out, now);
    if (!id.empty()) {
        append_expiry(out, hold, now);
        append_name(out, "extensions_left");
        append_integer(out, hold.extensions_left);
    }
    if (left_out != nullptr) append_left_out(out, spec.layout, *left_out);
    out += '}';
}

}  // namespace holdfast::api
