#include "engine/projection.hpp"

#include <holdfast/engine/catch_up.hpp>
#include <holdfast/journal/base_file.hpp>

namespace holdfast::engine {
namespace {

using journal::Failure;

constexpr std::size_t transaction_records = 5'000;

Failure not_applied(Projection const& projection) {
    auto const store = projection.store_failure();
    bool const contradicts = !store || *store == store::StoreError::Kind::contradiction;
    if (contradicts) return {78, "store.db contradicts the journal: " + *projection.failure()};
    return {store::exit_code_of(*store), "store.db cannot follow: " + *projection.failure()};
}

}  // namespace

std::optional<Failure> catch_up(store::Store& store, journal::Disk& disk,
                                std::filesystem::path const& data, FindSpec const& find_spec,
                                ServerKey const& key, Lsn last) {
    if (store.identity().applied_lsn >= last) return std::nullopt;
    auto const start = journal::first_segment_start(data, disk);
    if (!start) return start.error();
    Projection projection(store, find_spec, key);
    auto const reader = journal::read_from(
        data, disk, *start, [&projection](auto const base) { return projection.load(base); });
    if (!reader) return reader.error();
    for (Lsn position = start->before; position < last;) {
        auto const read = (*reader)->read(last, transaction_records, projection);
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
