#include "bench/measured_sale.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace holdfast::bench {

void require(bool expected, char const* what) {
    if (expected) return;
    std::fprintf(stderr, "bench engine: this must not happen: %s\n", what);
    std::abort();
}

std::shared_ptr<EventSpec const> make_venue(Size const& size, std::uint32_t max_per_order) {
    LayoutBuilder builder;
    builder.add_category({"std", "Standard", 4'500});
    builder.set_focal({size.seats_a_row / 2.0, -10});
    Section section;
    section.id = "A";
    builder.add_section(section);
    for (std::uint32_t row = 1; row <= size.rows; ++row) {
        builder.add_row(std::to_string(row));
        for (std::uint32_t seat = 1; seat <= size.seats_a_row; ++seat) {
            std::string const label = std::to_string(seat);
            std::string const name = "A-" + std::to_string(row) + "-" + label;
            builder.add_seat({name, label, {{seat * 1.0, row * 1.0}, {}, 0}});
        }
    }
    auto layout = std::move(builder).build();
    require(layout.has_value(), "a venue that is no layout");
    auto spec = std::make_shared<EventSpec>();
    spec->id = EventId{1};
    spec->slug = "bench";
    spec->publish = true;
    spec->policy.max_per_order = max_per_order;
    spec->layout = std::move(*layout);
    return spec;
}

MeasuredSale::MeasuredSale(std::shared_ptr<EventSpec const> const& spec)
    : event_(engine_.add(spec)) {
    engine_.build(*event_, {});
}

void MeasuredSale::empty_wheel() {
    require(engine_.expire(now) == 0, "a hold that ends too early");
}

PairClaim::PairClaim(MeasuredSale& sale, std::optional<Milliseconds> ttl)
    : sale_(sale), lines_(1), command_{sale.event(), lines_, 0, ttl, false} {
    lines_[0].kind = engine::ClaimLine::Kind::seats;
    lines_[0].seats.resize(2);
}

Result<engine::HoldView> PairClaim::claim(std::uint32_t first, TimePoint now) {
    lines_[0].seats[0] = SeatIndex{first};
    lines_[0].seats[1] = SeatIndex{first + 1};
    return sale_.engine().claim(command_, now, places_);
}

void Rate::measure(std::function<std::uint64_t()> const& work) {
    auto const start = std::chrono::steady_clock::now();
    done_ += work();
    spent_ += std::chrono::steady_clock::now() - start;
}

double Rate::per_second() const noexcept {
    return static_cast<double>(done_) / spent_.count();
}

}  // namespace holdfast::bench
