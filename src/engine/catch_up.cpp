#include "engine/projection.hpp"

#include <holdfast/engine/catch_up.hpp>
#include <holdfast/journal/base_file.hpp>

namespace holdfast::engine {
namespace {

using journal::Failure;

constexpr int exit_inconsistent = 78;
constexpr std::size_t transaction_records = 5'000;

Failure not_applied(Projection const& projection) {
    return {exit_inconsistent, "store.db contradicts the journal: " + *projection.failure()};
}

}  // namespace

std::optional<Failure> catch_up(store::Store& store, journal::Disk& disk,
                                std::filesystem::path const& data, FindSpec const& find_spec,
                                ServerKey const& key, Lsn last) {
    if (store.identity().applied_lsn >= last) return std::nullopt;
    auto const start = journal::first_segment_start(data, disk);
    if (!start) return start.error();
    Projection projection(store, find_spec, key);
    if (start->segment > 1) {
        auto const base = journal::read_base(data, disk, *start);
        if (!base) return base.error();
        if (!projection.load(*base))
            return Failure{exit_inconsistent, "the base file is no state of a replay"};
    }
    journal::TailReader reader(data, disk, start->before);
    for (Lsn position = start->before; position < last;) {
        auto const read = reader.read(last, transaction_records, projection);
        if (projection.failure()) return not_applied(projection);
        if (!read) {
            store.roll_back();
            return read.error();
        }
        position = read->last;
        if (!projection.commit(position, read->chain)) return not_applied(projection);
    }
    return std::nullopt;
}

}  // namespace holdfast::engine
