#include "engine/orphans.hpp"

#include "engine/orphan_alternatives.hpp"
#include "engine/surroundings.hpp"

#include <algorithm>
#include <bit>

namespace holdfast::engine {
namespace {

using Seats = std::vector<SeatIndex>;

class OrphanSearch {
public:
    OrphanSearch(Sale const& sale, OrphanQuestion const& question, Surroundings const& around)
        : sale_(sale), layout_(sale.spec().layout), question_(question), around_(around) {}

    [[nodiscard]] Seats orphans() {
        Seats found;
        for (SeatIndex const seat : question_.hand_picked) {
            if (seat.value() >= layout_.labelled_count()) break;  // places without neighbours
            if (around_.state(seat.value()) != PlaceState::free) return {};
            for (int const side : {-1, 1}) {
                if (around_.beside(seat.value(), side) != Beside::free) continue;
                std::uint32_t const gap = seat.value() + static_cast<std::uint32_t>(side);
                Beside const far = around_.beside(gap, side);
                bool const single = far == Beside::taken || far == Beside::row_end;
                bool const known = !found.empty() && found.back() == SeatIndex{gap};
                if (single && !known) found.emplace_back(gap);
            }
        }
        bool const lenient = sale_.spec().policy.orphan_rule == OrphanRule::lenient;
        judged_.reset();
        std::erase_if(found, [&](SeatIndex gap) {
            return (lenient && nothing_else_fits(gap.value())) || in_endgame(gap);
        });
        return found;
    }
    /// Words of hints counted so far.
    [[nodiscard]] std::size_t looks() const noexcept { return words_; }

private:
    /// The run has just one seat more than are taken from it, so every choice leaves one: there are
    /// only seats chosen by hand between the gap and the ends of its run. That is all that is
    /// walked along, so each chosen seat is passed at most twice, whatever the number of gaps.
    [[nodiscard]] bool nothing_else_fits(std::uint32_t gap) const {
        for (int const side : {-1, 1}) {
            for (std::uint32_t seat = gap; around_.run_goes_on(seat, side);) {
                seat += static_cast<std::uint32_t>(side);
                if (!around_.is_picked(seat)) return false;
            }
        }
        return true;
    }

    /// Answered once a section: gaps are ascending, and so are the seats of the sections.
    [[nodiscard]] bool in_endgame(SeatIndex gap) {
        SectionIndex const section = layout_.section_of(gap);
        if (judged_ != section) {
            judged_ = section;
            endgame_ = has_less_free(layout_.sections()[section.value()]);
        }
        return endgame_;
    }

    /// Whether less is free of the section than the policy's share; counts no further than that.
    [[nodiscard]] bool has_less_free(Section const& section) {
        auto const& places = sale_.inventory().places;
        std::uint32_t const first = section.first.value();
        std::uint32_t const last = first + section.capacity - 1;
        std::uint64_t const enough =
            std::uint64_t{sale_.spec().policy.orphan_endgame_pct} * section.capacity;
        auto const back = std::ranges::lower_bound(question_.given_back, section.first);
        auto const beyond = std::ranges::lower_bound(question_.given_back, SeatIndex{last + 1});
        auto free = static_cast<std::uint64_t>(beyond - back);
        for (std::uint32_t word = first / 64; word <= last / 64; ++word) {
            if (free * 100 >= enough) return false;
            ++words_;
            std::uint64_t bits = places.hint_word(word);
            if (word == first / 64) bits &= ~std::uint64_t{0} << (first % 64);
            if (word == last / 64) bits &= ~std::uint64_t{0} >> (63 - last % 64);
            free += static_cast<unsigned>(std::popcount(bits));
        }
        return free * 100 < enough;
    }

    Sale const& sale_;
    Layout const& layout_;
    OrphanQuestion const& question_;
    Surroundings const& around_;
    std::optional<SectionIndex> judged_;
    bool endgame_{};
    std::size_t words_{};
};

/// Whether a free seat beside the end `edge` of a stretch of chosen ones may be left single; its
/// row goes on to that side until `row_end`.
bool may_leave_single(auto free, std::uint32_t edge, std::uint32_t row_end, int side) {
    if (edge == row_end) return false;
    std::uint32_t const step = static_cast<std::uint32_t>(side);
    std::uint32_t const beside = edge + step;
    if (!free(beside)) return false;
    return beside == row_end || !free(beside + step);
}

/// A quick look at the ends of each stretch of chosen seats in rows without aisles: true if none of
/// them can leave a single seat, so that the rule has nothing to say. False: look closely.
bool leave_nothing_single(inventory::Geometry const& geometry, std::span<SeatIndex const> seats,
                          auto free) {
    for (std::size_t i = 0; i < seats.size();) {
        std::uint32_t const first = seats[i].value();
        if (first >= geometry.labelled_count()) return true;  // ascending: no seat follows
        inventory::RowGeometry const& row = geometry.rows()[geometry.row_of(first)];
        if (!row.plain) return false;
        std::uint32_t const row_last = row.first + row.count - 1;
        std::uint32_t last = first;
        for (++i; i < seats.size() && seats[i].value() == last + 1 && last < row_last; ++i) ++last;
        if (may_leave_single(free, first, row.first, -1)) return false;
        if (may_leave_single(free, last, row_last, 1)) return false;
        // A stretch that ends one seat before the next one encloses it.
        if (i < seats.size() && seats[i].value() == last + 2) return false;
    }
    return true;
}

/// The orphans by looks that were all true at one instant; none if the places do not keep still so
/// long: nobody is refused for what may never have been.
Seats orphans_at_one_instant(OrphanSearch& search, Surroundings& around) {
    for (int round = 0; round < limits::search_rounds_max; ++round) {
        around.note_looks();
        Seats orphans = search.orphans();
        if (around.still_so()) return orphans;
    }
    return {};
}

/// The rule itself. Kept out of find_orphans(), whose usual answer needs none of this frame.
[[gnu::noinline]] std::optional<Refusal> look_closely(Sale const& sale,
                                                      OrphanQuestion const& question, TimePoint now,
                                                      OrphanReport* report) {
    inventory::Geometry const& geometry = sale.inventory().geometry;
    Surroundings around(sale, question, now);
    OrphanSearch search(sale, question, around);
    Seats orphans = search.orphans();
    if (!orphans.empty()) orphans = orphans_at_one_instant(search, around);
    std::optional<Refusal> refusal;
    if (!orphans.empty()) {
        refusal.emplace();
        refusal->code = RefusalCode::orphan_seat;
        refusal->seat = orphans.front();
    }
    if (report == nullptr) return refusal;
    if (refusal) report->alternatives = orphan_alternatives(geometry, question, around, orphans);
    report->orphans = std::move(orphans);
    report->looks = around.looks() + search.looks();
    return refusal;
}

}  // namespace

std::optional<Refusal> find_orphans(Sale const& sale, OrphanQuestion const& question, TimePoint now,
                                    OrphanReport* report) {
    std::size_t looks = 0;
    auto const free = [&](std::uint32_t seat) {
        ++looks;
        return is_free_before(sale, question, seat, now);
    };
    if (question.hand_picked.size() == question.places.size() &&
        leave_nothing_single(sale.inventory().geometry, question.places, free)) {
        if (report != nullptr) report->looks = looks;
        return std::nullopt;
    }
    auto refusal = look_closely(sale, question, now, report);
    if (report != nullptr) report->looks += looks;
    return refusal;
}

}  // namespace holdfast::engine
