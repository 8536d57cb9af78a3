// Projection: turns journal records into the store's rows. The projector's sink.
//
// Purpose: an ORDER names holds, a row needs seats, names and prices. The seats come from the
// CLAIM records, so the projection follows every hold from CLAIM to END or ORDER and depends on
// nothing but the journal and the catalogue; names and prices are the layout's.
// Thread safety: the store thread. Invariants: records up to the store's applied_lsn only feed the
// map of holds; the first one after it begins a transaction, which the projector commits.
// Cost: see live_seats.hpp.
#pragma once

#include "engine/live_seats.hpp"

#include <holdfast/engine/facts.hpp>
#include <holdfast/engine/find_spec.hpp>
#include <holdfast/engine/server_key.hpp>
#include <holdfast/journal/record.hpp>
#include <holdfast/store/store.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace holdfast::engine {

class Projection final : public journal::RecordSink {
public:
    Projection(store::Store& store, FindSpec find_spec, ServerKey const& key);

    /// The holds of a base file, before the first record. False: it is none.
    [[nodiscard]] bool load(std::span<std::byte const> base);
    /// False: see failure().
    bool record(journal::RecordView const& record) override;
    /// Commits what record() began, if anything. False: see failure().
    [[nodiscard]] bool commit(Lsn last, std::uint32_t chain);
    /// Why a record could not be applied, with its LSN; nothing of its transaction remains.
    [[nodiscard]] std::optional<std::string> const& failure() const noexcept { return failure_; }
    /// If it was the store that failed.
    [[nodiscard]] std::optional<store::StoreError::Kind> store_failure() const noexcept {
        return store_failure_;
    }

private:
    bool project(journal::RecordView const& record);
    bool claim_record(journal::RecordView const& record);
    bool edit_record(journal::RecordView const& record);
    bool exchange(journal::RecordView const& record);
    bool reseat(journal::RecordView const& record);
    bool refund(journal::RecordView const& record);
    bool end_record(journal::RecordView const& record);
    bool order_record(journal::RecordView const& record);
    bool cancel_record(journal::RecordView const& record);
    bool event_record(journal::RecordView const& record);
    [[nodiscard]] bool is_new(Lsn lsn) const noexcept { return lsn > applied_; }
    /// Adds the tickets of one hold; false: the record contradicts what came before it.
    bool add_tickets(OrderFact const& fact, HoldKey const& hold, store::OrderRow& row);
    bool begin();
    bool fail(Lsn lsn, std::string const& what);
    bool check(Lsn lsn, store::StoreResult<void> const& done);

    store::Store& store_;
    FindSpec find_spec_;
    ServerKey const& key_;
    Lsn applied_;
    bool begun_{};
    LiveSeats seats_;
    ClaimFact claim_;  // the last one; kept for its capacity
    std::optional<std::string> failure_;
    std::optional<store::StoreError::Kind> store_failure_;
};

}  // namespace holdfast::engine
