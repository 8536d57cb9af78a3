// Claim decoder: the body of POST /v1/events/{event}/holds becomes lines of a claim; that of an
// exchange or a partial release, lines of a list.
//
// Purpose: every rule of shape: names that exist, nothing twice, counts within the event's bounds.
// What passes here can only be refused by the business.
// Thread safety: one thread at a time; reused from request to request.
// Cost: no allocation once its vectors have grown.
#pragma once

#include "api/json_decoder.hpp"
#include "api/seats_verdict.hpp"

#include <holdfast/domain/event.hpp>
#include <holdfast/engine/engine.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace holdfast::api {

enum class ClaimBody : std::uint8_t {
    claim,
    /// Says what a hold has and searches for nothing: named seats and numbers of general places.
    /// What else a claim may say is refused. Whether groups stay whole only the hold can tell.
    list,
};

class ClaimDecoder {
public:
    using Verdict = SeatsVerdict;

    /// `body` and `spec` must live as long as the results are used.
    [[nodiscard]] Verdict decode(JsonValue body, EventSpec const& spec,
                                 ClaimBody kind = ClaimBody::claim);
    /// Reads the bodies that nearly every claim has, without a tree: named seats, or a number of
    /// places, best or of a section. False: decode() must look, at a body that may be good or not;
    /// where this is true, decode() would have said `good` with the same results.
    [[nodiscard]] bool decode_plain(std::string_view body, EventSpec const& spec);

    [[nodiscard]] std::span<engine::ClaimLine const> lines() const noexcept {
        return std::span(lines_).first(line_count_);
    }
    /// The account it is made for; 0: none was named.
    [[nodiscard]] std::uint64_t account() const noexcept { return account_; }
    /// One line asked for a choice without a hold.
    [[nodiscard]] bool preview() const noexcept { return preview_; }
    /// Of named seats those that can be had will do.
    [[nodiscard]] bool partial() const noexcept { return partial_; }
    /// Of input_error.
    [[nodiscard]] InputError const& error() const noexcept { return state_.error(); }
    /// Of the others: the names.
    [[nodiscard]] std::span<std::string_view const> offenders() const noexcept {
        return offenders_;
    }
    /// The section's id if the line asks for places of just one; else empty.
    [[nodiscard]] std::string_view section_of_line(std::size_t line) const noexcept;

private:
    void start(EventSpec const& spec, ClaimBody kind);
    void ask_section(engine::ClaimLine& line, SectionIndex section, std::uint32_t quantity) const;
    engine::ClaimLine& new_line(engine::ClaimLine::Kind kind);
    [[nodiscard]] IntegerRange order_range() const noexcept;
    void decode_claimer(ObjectDecoder& body);
    void check_partial(ObjectDecoder const& body);
    void decode_line(ObjectDecoder& line, JsonValue value);
    void decode_seats(JsonValue names);
    void decode_candidates(ObjectDecoder& line, JsonValue names);
    void decode_best(JsonValue value);
    void decode_section(ObjectDecoder& line, JsonValue name);
    void add_seats(JsonValue names, engine::ClaimLine& line);
    [[nodiscard]] SectionIndex section_named(JsonValue name);
    void decode_scope(ObjectDecoder& best, engine::BestWish& wish);
    void turn_general(engine::ClaimLine& line) const;
    void check_total(JsonValue body);
    [[nodiscard]] bool find_duplicates();
    [[nodiscard]] bool find_broken_group();

    EventSpec const* spec_{};
    ClaimBody kind_{};
    DecodeState state_;
    std::vector<engine::ClaimLine> lines_;  // kept for their capacity; line_count_ are in use
    std::size_t line_count_{};
    std::uint64_t account_{};
    bool preview_{};
    bool partial_{};
    std::vector<std::string_view> offenders_;
    std::vector<SeatIndex> all_seats_;
};

}  // namespace holdfast::api
