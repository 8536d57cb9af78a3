#include "app/old_store.hpp"

#include "app/exit_codes.hpp"
#include "app/scratch_folder.hpp"

#include <utility>

namespace holdfast::app {

using journal::Failure;

bool passes(Failure const& failure) noexcept {
    return failure.exit_code == exit_temporary || failure.exit_code == exit_not_durable;
}

ResultOf<OldStore, Failure> read_old_store(std::filesystem::path const& data,
                                           std::filesystem::path const& folder) {
    std::error_code error;
    std::filesystem::create_directory(folder, error);
    if (error) return folder_failure(folder, "cannot be made", error.value());
    if (auto const copied = copy_store_to(data, folder); !copied) return copied.error();
    auto const identity = store::Store::peek(folder / "store.db");
    if (!identity) return bare_store_failure(data / "store.db", identity.error());
    if (!*identity) return Failure{exit_damaged, (data / "store.db").string() + ": is missing"};
    auto store = store::Store::open(folder / "store.db", (*identity)->store_id);
    if (!store) return bare_store_failure(data / "store.db", store.error());
    auto events = (*store)->load_events();
    if (!events) return bare_store_failure(data / "store.db", events.error());
    OldStore old{**identity, *std::move(events), {}, {}};
    auto orders = (*store)->order_sums();
    if (orders)
        old.orders = *std::move(orders);
    else
        old.why_no_orders = orders.error().message;
    return old;
}

std::optional<Failure> add_events(store::Store& store, std::filesystem::path const& file,
                                  std::span<EventSpec const> events) {
    auto const known = store.load_events();
    if (!known) return store_failure(file, known.error());
    for (EventSpec const& spec : events) {
        if (spec.id.value() <= known->size()) continue;
        auto const id = store.insert_event(spec);
        if (!id) return store_failure(file, id.error());
        if (!*id || **id != spec.id) {
            return Failure{exit_inconsistent, file.string() + ": the event " + spec.slug +
                                                  " has another number in it"};
        }
    }
    return {};
}

}  // namespace holdfast::app
