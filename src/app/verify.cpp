#include "app/verify.hpp"

#include "app/commands.hpp"
#include "app/exit_codes.hpp"
#include "app/resting_folder.hpp"

#include <algorithm>

namespace holdfast::app {
namespace {

using journal::Failure;

struct Totals {
    engine::PlaceCounts places;
    std::uint64_t holds{};  // live, not sold
    std::uint64_t confirmed{};
    std::uint64_t cancelled{};
    Money money;  // of confirmed orders
};

std::string text_of_totals(Totals const& totals) {
    engine::PlaceCounts const& places = totals.places;
    return count_of(places.free + places.taken(), "place") + " (" + text_of(places) + "), " +
           count_of(totals.holds, "hold") + ", " + count_of(totals.confirmed, "order") +
           " confirmed, " + std::to_string(totals.cancelled) + " cancelled, " +
           text_of(totals.money);
}

void add_orders(std::vector<store::OrderSum> const& orders, std::map<EventId, Totals>& events) {
    for (store::OrderSum const& order : orders) {
        Totals& totals = events[order.event];
        bool const confirmed = order.state == store::OrderState::confirmed;
        ++(confirmed ? totals.confirmed : totals.cancelled);
        if (confirmed) totals.money[order.currency] += order.total;
    }
}

void add_places(EventSpec const& spec, engine::RestoredEvent const& event, Totals& totals) {
    for (engine::PlaceCounts const& section : engine::counts_of(spec.layout, event))
        totals.places += section;
    totals.holds = static_cast<std::uint64_t>(std::ranges::count(
        event.holds, OrderId{}, [](engine::RestoredHold const& hold) { return hold.order; }));
}

void add(Totals& sum, Totals const& more) {
    sum.places += more.places;
    sum.holds += more.holds;
    sum.confirmed += more.confirmed;
    sum.cancelled += more.cancelled;
    for (auto const& [currency, amount] : more.money) sum.money[currency] += amount;
}

std::string text_of_tail(journal::Recovered const& recovered) {
    std::string text = "LSN " + std::to_string(recovered.tail.last_lsn.value());
    if (recovered.cut_bytes != 0)
        text += ", a torn tail of " + count_of(recovered.cut_bytes, "byte") + " to be cut";
    return text;
}

}  // namespace

Report verify_folder(std::filesystem::path const& data, journal::Disk& disk) {
    auto const folder = RestingFolder::open(data, disk);
    if (!folder) return failed_report("verify", folder.error());
    RestoredState& state = (*folder)->state();
    auto const orders = state.store->order_sums();
    if (!orders) return failed_report("verify", store_failure(data / "store.db", orders.error()));
    std::map<EventId, Totals> events;
    add_orders(*orders, events);
    Totals sum;
    Report report;
    auto const backup = check_backup(data, state.journal.tail.last_lsn);
    if (!backup) return failed_report("verify", backup.error());
    report.output = *backup;
    for (EventSpec const& spec : state.catalogue) {
        Totals& totals = events[spec.id];
        add_places(spec, state.events[spec.id], totals);
        totals.money.try_emplace(spec.currency, 0);
        add(sum, totals);
        report.output += "event " + spec.slug + ": " + text_of_totals(totals) + "\n";
    }
    report.output += "verify: OK " + count_of(state.catalogue.size(), "event") + ", " +
                     text_of_totals(sum) + ", " + text_of_tail(state.journal) + "\n";
    return report;
}

int verify(VerifyCommand const& command) {
    journal::PosixDisk disk;
    return print(verify_folder(command.data, disk));
}

}  // namespace holdfast::app
