#include "api/metrics.hpp"

#include "api/json_writer.hpp"

#include <holdfast/api/in_flight.hpp>
#include <holdfast/api/overload.hpp>
#include <holdfast/api/rate_limits.hpp>
#include <holdfast/api/seat_streams.hpp>
#include <holdfast/base/log.hpp>
#include <holdfast/store/store.hpp>

#include <array>

namespace holdfast::api {
namespace {

using engine::LiveEvent;

// A scrape may not become work without an end: what is over these bounds is left out, and said.
constexpr std::size_t events_counted_max = 256;
constexpr std::uint64_t places_counted_max = 8'000'000;

constexpr std::array states{EventState::draft,    EventState::preparing, EventState::scheduled,
                            EventState::open,     EventState::paused,    EventState::closed,
                            EventState::cancelled};

/// Slugs need no escaping as label values.
void append_labelled(std::string& out, std::string_view name, std::string_view labels,
                     std::uint64_t value) {
    out.append(name).append("{").append(labels).append("} ");
    append_integer(out, static_cast<std::int64_t>(value));
    out += '\n';
}

void append_single(std::string& out, std::string_view name, std::string_view type,
                   std::string_view help, std::uint64_t value) {
    append_family(out, name, type, help);
    append_sample(out, name, value);
}

void append_http(std::string& out, http::ServerCounts const& counts) {
    append_single(out, "holdfast_http_connections_open", "gauge",
                  "Connections of the public server.", counts.connections_open);
    append_single(out, "holdfast_http_connections_accepted_total", "counter",
                  "Connections accepted.", counts.connections_accepted);
    append_single(out, "holdfast_http_connections_refused_total", "counter",
                  "Connections refused by a limit.", counts.connections_refused);
    append_single(out, "holdfast_http_accept_pauses_total", "counter",
                  "Pauses of accepting, of up to 0.1 s each, of all io threads, for want of "
                  "descriptors or memory.",
                  counts.accept_pauses);
    append_single(out, "holdfast_http_requests_total", "counter", "Requests read.",
                  counts.requests);
    append_single(out, "holdfast_http_batches_total", "counter",
                  "Groups of requests that were answered with one write.", counts.batches);
    append_single(out, "holdfast_http_received_bytes_total", "counter", "Bytes read.",
                  counts.bytes_in);
    append_single(out, "holdfast_http_sent_bytes_total", "counter", "Bytes written.",
                  counts.bytes_out);
    append_family(out, "holdfast_http_replies_total", "counter", "Replies by class of status.");
    append_labelled(out, "holdfast_http_replies_total", "class=\"2xx\"", counts.replies_2xx);
    append_labelled(out, "holdfast_http_replies_total", "class=\"4xx\"", counts.replies_4xx);
    append_labelled(out, "holdfast_http_replies_total", "class=\"5xx\"", counts.replies_5xx);
    append_single(out, "holdfast_http_handler_exceptions_total", "counter",
                  "Handlers that failed by a bug of ours; must stay 0.", counts.handler_exceptions);
    append_single(out, "holdfast_http_handshakes_failed_total", "counter",
                  "TLS handshakes that came to nothing.", counts.handshakes_failed);
    append_single(out, "holdfast_http_handlers_late_total", "counter",
                  "Requests of workers that were answered before they were done.",
                  counts.handlers_late);
    append_single(out, "holdfast_http_half_read_heads_refused_total", "counter",
                  "Connections closed because too many of their address were in a head.",
                  counts.half_read_heads_refused);
}

void append_streams(std::string& out, http::ServerCounts const& http,
                    SeatStreams::Counts const& counts) {
    append_single(out, "holdfast_streams_open", "gauge", "Open streams of seat changes.",
                  http.streams_open);
    append_single(out, "holdfast_streams_opened_total", "counter", "Streams that were opened.",
                  http.streams_opened);
    append_single(out, "holdfast_streams_dropped_total", "counter",
                  "Streams that ended because their client read too slowly.", http.streams_dropped);
    append_single(out, "holdfast_streams_refused_total", "counter", "Streams refused by a limit.",
                  counts.refused);
    append_single(out, "holdfast_stream_events", "gauge", "Events that are watched by streams.",
                  counts.events);
    append_single(out, "holdfast_stream_deltas_total", "counter",
                  "Deltas made, each once for all streams of its event.", counts.deltas);
}

void append_maps(std::string& out, EventMaps const& maps) {
    append_single(out, "holdfast_event_map_bytes", "gauge",
                  "Maps of events that are ready for who asks.", maps.bytes());
}

void append_refused(std::string& out, std::string_view name, RateLimits& rates) {
    using Class = RateLimits::Class;
    append_labelled(out, name, "class=\"read\"", rates.refused(Class::read));
    append_labelled(out, name, "class=\"write\"", rates.refused(Class::write));
}

void append_rates(std::string& out, RateLimits& rates) {
    append_family(out, "holdfast_rate_limited_total", "counter",
                  "Requests refused as too many of their network.");
    append_refused(out, "holdfast_rate_limited_total", rates);
    append_single(out, "holdfast_rate_limited_networks", "gauge",
                  "Networks whose requests are counted.", rates.known());
}

void append_holder_rates(std::string& out, RateLimits& rates) {
    append_family(out, "holdfast_hold_rate_limited_total", "counter",
                  "Requests refused as too many with the token of one hold.");
    append_refused(out, "holdfast_hold_rate_limited_total", rates);
    append_single(out, "holdfast_rate_limited_holds", "gauge",
                  "Holds with whose token requests are counted.", rates.known());
}

void append_in_flight(std::string& out, InFlight& in_flight) {
    append_single(out, "holdfast_in_flight_principals", "gauge",
                  "Principals with requests that are being answered.", in_flight.principals());
    append_single(out, "holdfast_in_flight_refused_total", "counter",
                  "Requests refused because too many of their principal were being answered.",
                  in_flight.refused());
}

void append_overload(std::string& out, Overload::Counts const& counts) {
    append_single(out, "holdfast_overload_rung", "gauge",
                  "Rung of the ladder: 0 all is served, 5 new holds are refused.", counts.rung);
    append_single(out, "holdfast_overload_admitted_permille", "gauge",
                  "Of new holds, how many are admitted, in thousandths.",
                  std::uint64_t{counts.share} * 1'000 / OverloadLadder::whole);
    append_single(out, "holdfast_overload_io_wait_microseconds", "gauge",
                  "How long ready connections wait for their io thread, at the mean.",
                  static_cast<std::uint64_t>(counts.signals.io_wait.count()));
    append_single(out, "holdfast_overload_jobs_waiting", "gauge",
                  "Requests that wait for a worker.", counts.signals.jobs_waiting);
    append_family(out, "holdfast_overload_refused_total", "counter",
                  "Requests refused by the ladder.");
    append_labelled(out, "holdfast_overload_refused_total", "what=\"searches\"",
                    counts.refused_searches);
    append_labelled(out, "holdfast_overload_refused_total", "what=\"holds\"", counts.refused_holds);
}

void append_journal(std::string& out, Context const& context) {
    append_single(out, "holdfast_mode", "gauge",
                  "0 running, 2 read-only, 3 failed (final until restart).",
                  static_cast<std::uint64_t>(context.journal.mode()));
    // Read in this order the numbers never seem to run ahead of each other.
    Lsn const applied = context.projector.applied_lsn();
    Lsn const durable = context.journal.durable_lsn();
    Lsn const appended = context.journal.appended_lsn();
    append_single(out, "holdfast_appended_lsn", "counter", "Newest record handed to the journal.",
                  appended.value());
    append_single(out, "holdfast_durable_lsn", "counter", "Newest record on disk.",
                  durable.value());
    append_single(out, "holdfast_applied_lsn", "gauge",
                  "Newest record applied to the store; it goes back if the disk has lost some.",
                  applied.value());
    journal::Health const health = context.journal.health();
    append_single(out, "holdfast_journal_bytes", "gauge", "Segments and spares of the journal.",
                  health.bytes);
    append_single(out, "holdfast_journal_bytes_max", "gauge",
                  "With more than this the server is read-only; 0: no limit.", health.bytes_max);
    append_single(out, "holdfast_journal_groups_total", "counter",
                  "Groups of records written, with one sync each.", health.groups);
    append_single(out, "holdfast_journal_slow_syncs_total", "counter",
                  "Syncs of the journal that took longer than a second.", health.slow_syncs);
    append_single(out, "holdfast_journal_sheds", "gauge",
                  "1: a sync takes longer than 10 s, new mutations are refused.",
                  health.sheds ? 1 : 0);
    append_single(out, "holdfast_journal_space_short", "gauge",
                  "1: less than four times free_bytes_min is free.", health.space_is_short ? 1 : 0);
    append_family(out, "holdfast_wall_clock_ahead_ms", "gauge",
                  "How far the wall clock is ahead of the server's time; it moves no deadline.");
    out += "holdfast_wall_clock_ahead_ms ";
    append_integer(out, context.clock.wall_ahead().count());
    out += '\n';
    append_single(out, "holdfast_store_degraded", "gauge",
                  "1: the store cannot be written; the journal goes on.",
                  context.projector.degraded() ? 1 : 0);
    append_single(out, "holdfast_store_durable_lsn", "counter",
                  "Newest record that the store would have after a power cut.",
                  context.projector.store_durable_lsn().value());
    auto const counts = context.projector.checkpoint_counts();
    append_single(out, "holdfast_store_wal_bytes", "gauge",
                  "Growth of the store's WAL since its last checkpoint.", counts.wal_bytes);
    append_single(out, "holdfast_store_checkpoint_misses", "gauge",
                  "Checkpoints in a row that readers were in the way of.", counts.misses);
    append_single(out, "holdfast_store_memory_bytes", "gauge",
                  "Memory of SQLite: above all its cache of the file, 64 MiB at most.",
                  store::memory_bytes());
}

void append_marks(std::string& out, engine::MarkCounts const& counts) {
    append_single(out, "holdfast_idempotency_marks", "gauge",
                  "Answers kept for repeats with the same key.", counts.marks);
    append_single(out, "holdfast_idempotency_mark_bytes", "gauge", "Memory of those.",
                  counts.mark_bytes);
    append_single(out, "holdfast_idempotency_evicted_total", "counter",
                  "Of those, given up because there was no room.", counts.evicted);
    append_single(out, "holdfast_idempotency_refusals", "gauge",
                  "Answers kept in memory only: refusals, and of backups that began.",
                  counts.refusals);
    append_single(out, "holdfast_idempotency_refusal_bytes", "gauge", "Memory of those.",
                  counts.refusal_bytes);
    append_single(out, "holdfast_idempotency_in_flight", "gauge",
                  "Requests with a key that are being answered.", counts.in_flight);
    append_single(out, "holdfast_idempotency_replayed_total", "counter",
                  "Repeats that were given the first answer.", counts.replayed);
    append_single(out, "holdfast_idempotency_mismatched_total", "counter",
                  "Requests refused because their key belongs to another.", counts.mismatched);
    append_single(out, "holdfast_idempotency_early_total", "counter",
                  "Repeats refused because the first was being answered.",
                  counts.refused_in_flight);
}

void append_event_states(std::string& out, std::vector<LiveEvent*> const& events, TimePoint now) {
    std::array<std::uint64_t, states.size()> counts{};
    for (LiveEvent const* event : events) {
        for (std::size_t i = 0; i < states.size(); ++i) {
            if (event->state(now) == states[i]) ++counts[i];
        }
    }
    append_family(out, "holdfast_events", "gauge", "Events by state.");
    for (std::size_t i = 0; i < states.size(); ++i) {
        std::string const label = std::string("state=\"").append(to_string(states[i])) + "\"";
        append_labelled(out, "holdfast_events", label, counts[i]);
    }
}

void append_places_of(std::string& out, LiveEvent const& event, TimePoint now) {
    engine::SectionCount sum;
    for (auto const& count : event.availability(now)) {
        sum.free += count.free;
        sum.held += count.held;
        sum.sold += count.sold;
        sum.blocked += count.blocked;
    }
    std::string const start = "event=\"" + event.spec().slug + "\",state=\"";
    append_labelled(out, "holdfast_places", start + "free\"", sum.free);
    append_labelled(out, "holdfast_places", start + "held\"", sum.held);
    append_labelled(out, "holdfast_places", start + "sold\"", sum.sold);
    append_labelled(out, "holdfast_places", start + "blocked\"", sum.blocked);
}

void append_places(std::string& out, std::vector<LiveEvent*> const& events, TimePoint now) {
    append_family(out, "holdfast_places", "gauge", "Places by event and state.");
    std::size_t counted = 0;
    std::uint64_t places = 0;
    for (LiveEvent const* event : events) {
        places += event->spec().layout.place_count();
        if (counted == events_counted_max || places > places_counted_max) break;
        ++counted;
        append_places_of(out, *event, now);
    }
    append_single(out, "holdfast_events_without_places", "gauge",
                  "Events whose places are not listed, to bound a scrape.",
                  events.size() - counted);
}

}  // namespace

void append_family(std::string& out, std::string_view name, std::string_view type,
                   std::string_view help) {
    out.append("# HELP ").append(name).append(" ").append(help);
    out.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void append_sample(std::string& out, std::string_view name, std::uint64_t value) {
    out.append(name).append(" ");
    append_integer(out, static_cast<std::int64_t>(value));
    out += '\n';
}

void append_metrics(std::string& out, Context const& context, TimePoint now) {
    append_family(out, "holdfast_build_info", "gauge", "The version that runs.");
    append_labelled(out, "holdfast_build_info", "version=\"" HOLDFAST_VERSION "\"", 1);
    append_journal(out, context);
    append_marks(out, context.engine.marks().counts());
    if (context.public_counts) append_http(out, context.public_counts());
    if (context.rates) append_rates(out, *context.rates);
    if (context.holder_rates) append_holder_rates(out, *context.holder_rates);
    if (context.public_counts && context.streams)
        append_streams(out, context.public_counts(), context.streams->counts());
    append_maps(out, *context.maps);
    if (context.in_flight) append_in_flight(out, *context.in_flight);
    if (context.overload) append_overload(out, context.overload->counts(now));
    auto const events = context.engine.events();
    append_event_states(out, events, now);
    append_places(out, events, now);
    append_single(out, "holdfast_log_lines_dropped_total", "counter",
                  "Log lines that were not written.", log::dropped());
    append_process_metrics(out);
}

}  // namespace holdfast::api
