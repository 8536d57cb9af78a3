// Every bound of holdfast, in one place. Over a bound is a refusal, never growth.
//
// Thread safety: constants.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace holdfast::limits {

using namespace std::chrono_literals;

// Inventory
inline constexpr std::uint32_t places_per_event_max = 4'000'000;
inline constexpr std::uint32_t seats_per_claim_max = 10'000;  // a staff block
inline constexpr std::uint32_t seats_per_order_max = 500;     // upper bound of max_per_order
inline constexpr std::uint32_t claim_lines_max = 32;
inline constexpr std::uint32_t threads_max = 64;    // that may claim at one time
inline constexpr std::uint32_t seats_per_slot = 6;  // a longer list goes on in further slots
/// Slots beyond one a place: with every place held singly, each thread may still have a claim or an
/// edit of the longest list in flight (an edit needs slots for what it adds, for what it drops and
/// for the longer list), and four more slots (PROTOCOL: slots >= seats + 4 x threads).
constexpr std::uint32_t spare_slots(std::uint32_t max_per_order) noexcept {
    return threads_max * (4 + 3 * ((max_per_order + seats_per_slot - 1) / seats_per_slot));
}
inline constexpr std::uint32_t spare_slots_max = spare_slots(seats_per_order_max);
inline constexpr int search_rounds_max = 8;  // then `busy`
/// In an event of more places no search scans that the counts can refuse: a scan of so many takes
/// about a millisecond, which the requests of one io thread may wait for each other.
inline constexpr std::uint32_t scan_places_freely = 100'000;
/// In others, so many of its looks are worth one refusal by the counts that a kept verdict spares.
inline constexpr std::uint32_t scan_places_a_refusal = 64;
inline constexpr std::uint32_t sections_per_event_max = 4'096;
inline constexpr std::uint32_t rows_per_event_max = 1'000'000;
inline constexpr std::uint32_t categories_per_event_max = 1'024;
inline constexpr std::uint32_t events_max = 4'096;
inline constexpr std::size_t name_bytes_max = 255;  // a seat's or section's name
inline constexpr std::size_t slug_bytes_max = 64;

// Accounts of an event with limits for each
inline constexpr std::size_t user_entries_min = 1'024;
inline constexpr std::size_t user_entries_max = 1U << 20;  // 64 bytes each
inline constexpr std::size_t user_probes_max = 256;        // then `busy`
inline constexpr int user_spin_rounds = 64;                // then `busy`
inline constexpr std::uint64_t account_max = (std::uint64_t{1} << 48) - 1;
inline constexpr std::uint32_t open_holds_max = 10'000;           // of max_open_holds_per_user
inline constexpr std::uint32_t hold_seconds_max = 1'000'000'000;  // of hold_seconds_budget
inline constexpr std::uint32_t cool_down_window = 4'096;  // places looked through around one met
inline constexpr auto rehold_cooldown_highest = 3'600s;
inline constexpr auto hold_budget_retry = 3'600s;  // a spent budget does not come back: ask rarely

// Holds and orders
inline constexpr auto hold_ttl_default = 300s;
inline constexpr auto hold_ttl_lowest = 30s;  // config key hold.ttl_min_s, not under 1 s
inline constexpr auto hold_ttl_highest = 3'600s;
inline constexpr auto hold_life_default = 900s;
inline constexpr auto hold_life_highest = 7'200s;
inline constexpr std::uint32_t extensions_max = 100;
inline constexpr std::uint32_t holds_per_order_max = 16;
inline constexpr std::int64_t price_max = 1'000'000'000'000;  // minor units

// Idempotency keys
inline constexpr std::size_t key_bytes_max = 255;
inline constexpr std::size_t guest_key_bytes_min = 20;  // it is all that proves who asks again
inline constexpr auto mark_life = 24h;                  // of orders until the event, if later
inline constexpr std::size_t mark_bytes_default = 256U << 20;    // config key
inline constexpr std::size_t refusal_bytes_default = 16U << 20;  // config key

inline constexpr std::uint32_t orphan_endgame_pct_default = 10;
inline constexpr std::size_t orphan_alternatives_max = 3;
/// Seats walked along to find them. Without a login, so the sparsest claim must not cost more.
inline constexpr std::size_t orphan_walk_max = 4'096;

// Timer
inline constexpr auto timer_tick = 10ms;
/// Slots that one request looks at, or holds that one search ends, for a refusal; then `busy`.
inline constexpr std::size_t settled_per_claim_max = 1'024;
inline constexpr std::size_t expired_per_tick_max = 8'000;  // the rest comes with the next tick

// Journal
inline constexpr std::size_t record_bytes_max = 65'535;
inline constexpr std::size_t group_bytes_max = 1U << 20;
/// Of a server: in smaller ones the largest record has no room.
inline constexpr std::uint32_t segment_bytes_min = 128U << 10;
inline constexpr std::uint32_t group_records_max = 8'192;

// Store
/// That wait for the store thread. Each worker, the keeper and a backup wait for one; the others
/// were given up while it hung.
inline constexpr std::size_t store_jobs_max = 64;

// HTTP
inline constexpr std::size_t head_bytes_max = 16 * 1'024;
inline constexpr std::size_t request_line_bytes_max = 4 * 1'024;
inline constexpr std::size_t field_bytes_max = 8 * 1'024;
inline constexpr std::size_t fields_max = 64;
inline constexpr std::size_t cookie_bytes_max = 4 * 1'024;
inline constexpr std::size_t body_bytes_max = 64 * 1'024;
inline constexpr std::uint32_t chunks_per_body_max = 1'024;
inline constexpr std::uint32_t large_bodies_per_thread_max = 16;   // over body_bytes_max
inline constexpr std::size_t block_body_bytes_max = 1024 * 1'024;  // 10,000 names of 100 bytes
inline constexpr std::size_t plan_body_bytes_max = 8 * 1'024 * 1'024;
inline constexpr std::size_t batch_requests_max = 64;
inline constexpr std::size_t batch_reply_bytes_max = 256 * 1'024;
/// Shared bodies of so many bytes leave from where they lie, fewer are copied.
inline constexpr std::size_t body_bytes_apart_min = 32 * 1'024;
inline constexpr std::size_t worker_queue_max = 64;
inline constexpr std::uint32_t admin_connections_max = 64;  // open ones of the admin listener
inline constexpr std::size_t streams_in_a_row = 64;  // that look for news; then others have a turn
/// The kernel's part of a slow stream. With half of it loopback, whose segments are as large, waits
/// for the timer of its acknowledgements.
inline constexpr int stream_socket_bytes = 64 * 1'024;
/// The kernel's part of a body apart. It stays so for the connection's life, as it ends the
/// kernel's autotuning, which would come to 4 MB for who does not read.
inline constexpr int large_body_socket_bytes = 256 * 1'024;

/// A handshake, or what a client may say between two requests, takes ten records at most. OpenSSL
/// looks no further than what it has read ahead, so some hundred more may be looked at.
inline constexpr unsigned idle_records_max = 64;
inline constexpr unsigned records_in_a_row = 64;  // then others have their turn

// Reads
inline constexpr std::uint32_t page_items_default = 100;
inline constexpr std::uint32_t page_items_max = 1'000;
inline constexpr std::size_t names_listed_max = 1'000;  // of a problem
/// Whose changes the store may lack; with more, every order is taken for changed.
inline constexpr std::size_t changed_orders_max = 4'096;

// Streams of an event: what is kept for who comes back
inline constexpr std::size_t stream_ring_bytes_max = 1U << 20;  // or the newest delta, if larger
inline constexpr std::size_t stream_ring_deltas_max = 4'096;
inline constexpr auto stream_period = 250ms;   // between two looks at the places
inline constexpr auto stream_feed_kept = 60s;  // of an event that nobody watches any more

}  // namespace holdfast::limits
