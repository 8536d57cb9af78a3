#include "app/salvage.hpp"

#include "app/backup_target.hpp"
#include "app/commands.hpp"
#include "app/exit_codes.hpp"
#include "app/folder_owner.hpp"
#include "app/key_file.hpp"
#include "app/manifest.hpp"
#include "app/old_store.hpp"
#include "app/resting_folder.hpp"
#include "app/unfinished.hpp"

#include <holdfast/journal/salvage.hpp>
#include <holdfast/journal/whole_files.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace holdfast::app {
namespace {

using journal::Failure;
using journal::WholePart;
using OldStoreResult = ResultOf<OldStore, Failure>;

constexpr char const* lost_orders_name = "lost-orders.txt";

std::string range_of(Lsn first, Lsn last) {
    return "LSN " + std::to_string(first.value()) + " to " + std::to_string(last.value());
}

Lsn after(Lsn lsn) {
    return Lsn{lsn.value() + 1};
}

/// Why no store can be made for the whole part.
std::optional<Failure> why_no_store(WholePart const& part, OldStoreResult const& old) {
    auto const because = [](int exit_code, std::string const& why) {
        return Failure{exit_code, why + ": restore a backup"};
    };
    if (!old) return because(exit_damaged, old.error().message + "; the events are only there");
    if (old->identity.store_id != part.store_id)
        return because(exit_inconsistent, "store.db belongs to another store");
    if (part.first_segment == 1) return {};
    Lsn const applied = old->identity.applied_lsn;
    if (applied > part.last_lsn) {
        return because(exit_damaged,
                       "store.db is ahead, at LSN " + std::to_string(applied.value()) +
                           ", and without the deleted segments it cannot be made anew");
    }
    if (applied < part.before)
        return because(exit_damaged, "store.db ends before the journal begins");
    return {};
}

/// The newest LSN that something outside of the journal vouches for. A backup of which the end is
/// missing looks whole: only its manifest knows.
Lsn promised_by(std::filesystem::path const& data, OldStoreResult const& old) {
    Lsn const stored = old ? old->identity.applied_lsn : no_lsn;
    auto const manifest = read_manifest(data);  // one that cannot be read promises nothing
    bool const is_of_it =
        manifest && *manifest && old && (*manifest)->store_id == old->identity.store_id;
    return is_of_it ? std::max(stored, (*manifest)->durable) : stored;
}

/// What the store still knows and the whole part does not.
struct Losses {
    std::vector<store::OrderSum> orders;
    std::vector<store::OrderSum> changed;  // kept orders as they are before a change that is lost
};

Losses losses(WholePart const& part, OldStoreResult const& old) {
    Losses lost;
    if (!old) return lost;
    for (store::OrderSum const& order : old->orders) {
        if (order.lsn > part.last_lsn)
            lost.orders.push_back(order);
        else if (order.last_change > part.last_lsn)
            lost.changed.push_back(order);
    }
    return lost;
}

std::string text_of_lost(std::vector<store::OrderSum> const& lost, Lsn store::OrderSum::* lsn,
                         std::string const& what) {
    constexpr std::size_t told_max = 20;
    std::string text;
    for (store::OrderSum const& order : std::span{lost}.first(std::min(lost.size(), told_max))) {
        text += "lost: " + what + " " + engine::to_text(order.order) + ", LSN " +
                std::to_string((order.*lsn).value()) + ", known to store.db only\n";
    }
    if (lost.size() > told_max)
        text += "lost: " + count_of(lost.size() - told_max, "more " + what) + "\n";
    return text;
}

std::string text_of_lost(Losses const& lost) {
    return text_of_lost(lost.orders, &store::OrderSum::lsn, "order") +
           text_of_lost(lost.changed, &store::OrderSum::last_change, "change of order");
}

std::string text_of_whole(WholePart const& part) {
    std::string text = "whole: segments " + std::to_string(part.first_segment) + " to " +
                       std::to_string(part.last_segment);
    if (!part.damage.empty()) text += " up to the damage";
    text += part.last_lsn == part.before ? ", no record"
                                         : ", " + range_of(after(part.before), part.last_lsn);
    if (part.first_segment > 1)
        text += ", on the base file of LSN " + std::to_string(part.before.value());
    return text + "\n";
}

std::string text_of_loss(WholePart const& part, OldStoreResult const& old) {
    std::string text;
    if (!part.damage.empty()) text += "damaged: " + part.damage + "\n";
    text += text_of_whole(part);
    if (part.acknowledged > part.last_lsn) {
        text += "lost: " + range_of(after(part.last_lsn), part.acknowledged) +
                ", which were acknowledged\n";
    }
    if (part.groups_behind != 0 && !part.damage.empty()) {
        text += "behind the damage: " + count_of(part.groups_behind, "group") + " of " +
                count_of(part.records_behind, "record") + ", " +
                range_of(part.first_behind, part.last_behind) +
                ", can be read but not applied, and are not kept\n";
    }
    if (old && !old->why_no_orders.empty())
        text +=
            "lost orders are not known: those of store.db cannot be read: " + old->why_no_orders +
            "\n";
    return text + text_of_lost(losses(part, old));
}

std::optional<Failure> copy_private(std::filesystem::path const& from,
                                    std::filesystem::path const& to, journal::Disk& disk) {
    std::error_code error;
    if (!std::filesystem::exists(from, error) && !error) return {};
    auto failure = journal::copy_file(disk, from, to, {}, [] { return std::optional<Failure>{}; });
    if (failure && failure->exit_code == exit_failed) failure->exit_code = exit_not_durable;
    return failure;
}

/// A store as of the base file at least; bring_up_to_date does the rest.
std::optional<Failure> make_store(std::filesystem::path const& data, WholePart const& part,
                                  OldStore const& old, DataFolder const& target) {
    if (part.first_segment > 1) {
        auto const copied = copy_store_to(data, target.path());
        return copied ? std::optional<Failure>{} : copied.error();
    }
    auto made = store::Store::open(target.store_file(), old.identity.store_id);
    if (!made) return store_failure(target.store_file(), made.error());
    return add_events(**made, target.store_file(), old.events);
}

/// Starts once from what was written, as a server does.
std::optional<Failure> finish_store(DataFolder const& target, journal::Disk& disk) {
    auto state = restore_state(target, disk);
    if (!state) return state.error();
    if (auto failure = bring_up_to_date(target, disk, *state)) return failure;
    auto const moved = state->store->checkpoint();
    if (!moved) return store_failure(target.store_file(), moved.error());
    if (!*moved) return Failure{exit_failed, target.store_file().string() + ": somebody reads it"};
    if (auto const error = disk.sync_folder(target.path()))
        return Failure{exit_not_durable, journal::with_remedy(target.path().string(), error)};
    return {};
}

/// For whoever settles them by hand: order, its LSN, event, state, total, currency and what is lost
/// of it, between tabs.
std::optional<Failure> write_lost(Losses const& lost, OldStore const& old,
                                  std::filesystem::path const& file, journal::Disk& disk) {
    if (lost.orders.empty() && lost.changed.empty()) return {};
    std::map<EventId, std::string> slugs;
    for (EventSpec const& event : old.events) slugs[event.id] = event.slug;
    std::string text;
    auto const add = [&](store::OrderSum const& order, char const* what) {
        bool const is_cancelled = order.state == store::OrderState::cancelled;
        text += engine::to_text(order.order) + "\t" + std::to_string(order.lsn.value()) + "\t" +
                slugs[order.event] + "\t" + (is_cancelled ? "cancelled" : "confirmed") + "\t" +
                std::to_string(order.total) + "\t" + order.currency + "\t" + what + "\n";
    };
    for (store::OrderSum const& order : lost.orders) add(order, "order");
    for (store::OrderSum const& order : lost.changed) add(order, "change");
    if (auto const error = journal::write_whole(disk, file, std::as_bytes(std::span{text})))
        return Failure{exit_not_durable, journal::with_remedy(file.string(), error)};
    return {};
}

std::optional<Failure> write_target(std::filesystem::path const& data, WholePart const& part,
                                    OldStore const& old, DataFolder const& target,
                                    journal::Disk& disk, journal::Kept kept) {
    if (auto failure = mark_unfinished(target.path(), disk)) return failure;
    for (char const* const name : {"server.key", "admin.token"}) {
        if (auto failure = copy_private(data / name, target.path() / name, disk)) return failure;
    }
    if (auto failure = journal::copy_whole_part(data, disk, part, target.path(), kept))
        return failure;
    if (auto failure = make_store(data, part, old, target)) return failure;
    if (auto failure = finish_store(target, disk)) return failure;
    auto const lost = target.path() / lost_orders_name;
    if (auto failure = write_lost(losses(part, old), old, lost, disk)) return failure;
    return mark_finished(target.path(), disk);
}

/// What is wrong with the content is wrong in the folder that it comes from.
Failure told_of(std::filesystem::path const& data, std::filesystem::path const& target,
                Failure failure) {
    bool const of_content =
        failure.exit_code == exit_damaged || failure.exit_code == exit_inconsistent;
    return of_content ? in_terms_of(data, target, std::move(failure)) : failure;
}

/// As write_to() in a scratch folder, which has the whole segments by name only.
std::optional<Failure> try_out(std::filesystem::path const& data, WholePart const& part,
                               OldStore const& old, std::filesystem::path const& scratch,
                               journal::Disk& disk) {
    auto target = DataFolder::open(scratch);
    if (!target) return target.error();
    auto failure = write_target(data, part, old, *target, disk, journal::Kept::linked);
    if (!failure) return {};
    return told_of(data, scratch, *std::move(failure));
}

std::optional<Failure> write_to(std::filesystem::path const& data, WholePart const& part,
                                OldStore const& old, std::filesystem::path const& to,
                                journal::Disk& disk) {
    std::error_code error;
    auto const place = resolve_target(data, std::filesystem::absolute(to, error));
    if (!place) return place.error();
    bool const was_there = std::filesystem::exists(*place, error);
    auto target = DataFolder::open(*place);
    if (!target) return target.error();
    auto failure = write_target(data, part, old, *target, disk, journal::Kept::copied);
    if (!failure) return {};
    // Whoever ends this in the middle leaves the mark behind.
    if (!remove_unfinished(*place, disk))
        failure->message += "; what was made there cannot be removed either: remove the folder";
    if (!was_there) std::filesystem::remove(*place, error);
    return told_of(data, *place, *std::move(failure));
}

Report kept_report(WholePart const& part, Losses const& lost,
                   std::optional<std::filesystem::path> const& target) {
    Report report;
    if (!lost.orders.empty() || !lost.changed.empty()) {
        report.output = count_of(lost.orders.size(), "lost order") +
                        (lost.changed.empty() ? ""
                                              : ", " + count_of(lost.changed.size(), "kept order") +
                                                    " with lost changes") +
                        (target ? ", all of them: " + (*target / lost_orders_name).string()
                                : "; with --to a file names all of them");
        report.output += "\n";
    }
    report.output += part.damage.empty() ? "salvage: nothing acknowledged is damaged; up to LSN "
                                         : "salvage: damaged; up to LSN ";
    report.output += std::to_string(part.last_lsn.value());
    report.output += target ? " is in " + target->string() : " can be kept, with --to";
    report.output += "\n";
    return report;
}

}  // namespace

Report salvage_folder(std::filesystem::path const& data,
                      std::optional<std::filesystem::path> const& target, journal::Disk& disk) {
    auto const lock = ReadLock::take(data);
    if (!lock) return failed_report("salvage", lock.error());
    auto const scratch = ScratchFolder::make(scratch_parents(data), ".holdfast-scratch");
    if (!scratch) return failed_report("salvage", scratch.error());
    auto const old = read_old_store(data, (*scratch)->path() / "old");
    auto const part = journal::find_whole_part(data, disk, promised_by(data, old));
    if (!part) return failed_report("salvage", part.error());
    std::optional<Failure> failure;
    if (!old && passes(old.error()))
        failure = old.error();
    else if (auto no_key = check_key(data / "server.key", part->store_id))
        failure = std::move(no_key);
    else
        failure = why_no_store(*part, old);
    if (!failure)
        failure = target ? write_to(data, *part, *old, *target, disk)
                         : try_out(data, *part, *old, (*scratch)->path() / "salvaged", disk);
    Report report = failure ? failed_report("salvage", *failure)
                            : kept_report(*part, losses(*part, old), target);
    report.output.insert(0, text_of_loss(*part, old));
    return report;
}

int salvage(SalvageCommand const& command) {
    ::umask(0077);
    if (auto const failure = act_as_owner_of(command.data))
        return print(failed_report("salvage", *failure));
    journal::PosixDisk disk;
    std::optional<std::filesystem::path> target;
    if (!command.target.empty()) target = command.target;
    return print(salvage_folder(command.data, target, disk));
}

}  // namespace holdfast::app
