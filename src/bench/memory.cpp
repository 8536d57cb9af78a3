// What an event takes of the heap, by what the allocator says.

#include "bench/figures.hpp"

#include <malloc.h>

namespace holdfast::bench {
namespace {

/// Bytes handed out by the allocator, or 0 if it does not tell (a sanitizer's does not).
double bytes_in_use() {
    struct mallinfo2 const info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

double bytes_of_sale(std::shared_ptr<EventSpec const> const& spec) {
    CountingJournal journal;
    engine::Engine engine{journal, {}};
    double const before = bytes_in_use();
    engine::LiveEvent* const event = engine.add(spec);
    engine.build(*event, {});
    return bytes_in_use() - before;
}

}  // namespace

void measure_memory(Size const& size, Figures& figures) {
    constexpr std::uint32_t few = 10;
    constexpr std::uint32_t many = limits::seats_per_order_max;
    double const before = bytes_in_use();
    auto const spec = make_venue(size, few);
    double const plan = bytes_in_use() - before;
    if (plan <= 0) return;
    double const seats = size.seats();
    double const with_few = bytes_of_sale(spec);
    // The same places with more spare slots: the difference is slots and nothing else.
    double const with_many = bytes_of_sale(make_venue(size, many));
    double const slots = limits::spare_slots(many) - limits::spare_slots(few);
    figures.add(Figure::bytes_of_layout, plan / seats);
    figures.add(Figure::bytes_a_seat, with_few / seats);
    figures.add(Figure::bytes_a_slot, (with_many - with_few) / slots);
}

}  // namespace holdfast::bench
