#include "app/audit.hpp"

#include "app/commands.hpp"
#include "app/exit_codes.hpp"
#include "app/resting_folder.hpp"

#include <holdfast/journal/base_file.hpp>

#include <limits>
#include <utility>

namespace holdfast::app {
namespace {

using journal::Failure;

struct Counted {
    engine::Recount recount;
    Lsn from{};
};

/// Reads the journal once more, for the recount alone.
ResultOf<Counted, Failure> count_again(RestingFolder& folder, journal::Disk& disk) {
    Counted counted{engine::Recount(folder.find_spec()), no_lsn};
    Lsn const last = folder.state().journal.tail.last_lsn;
    if (last == no_lsn) return counted;
    auto const start = journal::first_segment_start(folder.scratch(), disk);
    if (!start) return start.error();
    counted.from = start->before;
    engine::Recount& recount = counted.recount;
    auto const reader = journal::read_from(
        folder.scratch(), disk, *start, [&recount](auto const base) { return recount.load(base); });
    if (!reader) return reader.error();
    auto const read = (*reader)->read(last, std::numeric_limits<std::size_t>::max(), recount);
    if (!recount.failure().empty())
        return Failure{exit_inconsistent, "the journal contradicts itself: " + recount.failure()};
    if (!read) return read.error();
    return counted;
}

Report report_of(engine::AuditFindings const& findings, Money const& money, Lsn last) {
    Report report;
    for (std::string const& line : findings.contradictions) report.output += line + "\n";
    std::uint64_t const found = findings.contradiction_count;
    std::uint64_t const told = findings.contradictions.size();
    if (found > told) report.output += "and " + std::to_string(found - told) + " more\n";
    report.exit_code = found == 0 ? exit_ok : exit_inconsistent;
    report.output +=
        found == 0 ? "audit: OK " : "audit: FAILED " + count_of(found, "contradiction") + ", ";
    report.output += "seats " + text_of(findings.places) + "; orders " +
                     std::to_string(findings.confirmed) + " confirmed, " +
                     std::to_string(findings.cancelled) + " cancelled, " + text_of(money) +
                     "; LSN " + std::to_string(last.value()) + "\n";
    return report;
}

Money money_of(std::vector<EventSpec> const& catalogue,
               std::vector<store::OrderSum> const& orders) {
    Money money;
    for (EventSpec const& spec : catalogue) money.try_emplace(spec.currency, 0);
    for (store::OrderSum const& order : orders)
        if (order.state == store::OrderState::confirmed) money[order.currency] += order.total;
    return money;
}

}  // namespace

Report audit_folder(std::filesystem::path const& data, journal::Disk& disk) {
    auto const folder = RestingFolder::open(data, disk);
    if (!folder) return failed_report("audit", folder.error());
    auto const counted = count_again(**folder, disk);
    if (!counted) return failed_report("audit", counted.error());
    RestoredState& state = (*folder)->state();
    auto const tickets = state.store->live_tickets();
    if (!tickets) return failed_report("audit", store_failure(data / "store.db", tickets.error()));
    auto const orders = state.store->order_sums();
    if (!orders) return failed_report("audit", store_failure(data / "store.db", orders.error()));
    auto const findings = engine::audit({.catalogue = state.catalogue,
                                         .replayed = state.events,
                                         .recount = counted->recount,
                                         .counted_from = counted->from,
                                         .tickets = *tickets,
                                         .orders = *orders});
    Lsn const last = state.journal.tail.last_lsn;
    auto const backup = check_backup(data, last);
    if (!backup) return failed_report("audit", backup.error());
    Report report = report_of(findings, money_of(state.catalogue, *orders), last);
    report.output.insert(0, *backup);
    return report;
}

int audit(AuditCommand const& command) {
    journal::PosixDisk disk;
    return print(audit_folder(command.data, disk));
}

}  // namespace holdfast::app
