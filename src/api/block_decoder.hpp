// Block decoder: the body of POST /v1/events/{event}/blocks becomes a block command.
//
// Purpose: any of `seats`, `sections`, `categories` and `section` + `quantity`, together: their
// union is blocked, at most 10,000 places, for good or `until` a time; not one sooner than the
// server's shortest hold, because the timer looks so far ahead. Places that the plan itself
// keeps from sale are left out of sections and categories.
// Thread safety: one thread. Cost: linear in the places named; categories scan the layout
// once.
#pragma once

#include "api/json_decoder.hpp"
#include "api/seats_verdict.hpp"

#include <holdfast/domain/event.hpp>
#include <holdfast/engine/engine.hpp>

#include <string_view>
#include <vector>

namespace holdfast::api {

class BlockDecoder {
public:
    using Verdict = SeatsVerdict;  // never inseparable: staff may block a part of a group

    /// `body` and `spec` must live as long as the results are used.
    /// `earliest_end`: no `until` before it.
    [[nodiscard]] Verdict decode(JsonValue body, EventSpec const& spec, TimePoint earliest_end);

    /// Without the event; its places are this decoder's.
    [[nodiscard]] engine::BlockCommand command() const noexcept;
    [[nodiscard]] std::vector<SeatIndex> const& places() const noexcept { return places_; }
    [[nodiscard]] InputError const& error() const noexcept { return state_.error(); }
    /// Of unknown_seats and duplicate_seats, at most limits::names_listed_max.
    [[nodiscard]] std::vector<std::string_view> const& offenders() const noexcept {
        return offenders_;
    }

private:
    void decode_seats(JsonValue names);
    void decode_sections(JsonValue ids);
    void decode_categories(JsonValue keys);
    void decode_quantity(ObjectDecoder& body, JsonValue section);
    void decode_kind(ObjectDecoder& body);
    void decode_until(ObjectDecoder& body, TimePoint earliest_end);
    [[nodiscard]] std::optional<SectionIndex> section_named(JsonValue id);
    void add_places(Section const& section, JsonValue where);
    void add_place(SeatIndex place, JsonValue where);
    void count_once();
    void check_places(JsonValue body);
    void find_duplicates();

    EventSpec const* spec_{};
    DecodeState state_;
    std::vector<SeatIndex> places_;  // in the order met; then ascending and unique
    std::vector<std::string_view> offenders_;
    bool duplicates_{};
    SectionIndex section_{};
    std::uint32_t quantity_{};
    engine::BlockKind kind_{};
    TimePoint until_{no_deadline};
    bool skip_taken_{};
};

}  // namespace holdfast::api
