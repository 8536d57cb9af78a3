// Read point: what an answer from memory has to wait for.
//
// Purpose: nothing is answered that a restart may undo (P6): neither what a read shows, nor the
//   success of a mutation that found its work done, nor the name of an order in a refusal.
// Thread safety: any thread. Cost: one load. Invariants: it waits for every record that may have
//   been seen, in every mode. After a failure of the journal memory does not tell what of it is on
//   disk, so where records were lost such an answer is 503 durability-lost; else it is given.
#pragma once

#include <holdfast/api/routes.hpp>
#include <holdfast/domain/refusal.hpp>

namespace holdfast::api {

[[nodiscard]] Lsn read_point(Context const& context);

/// For a refusal that is written: one that names an order waits for it, as a success would.
void wait_for_order(Context const& context, Refusal const& refusal, http::Reply& reply);

}  // namespace holdfast::api
