// Counters of one io thread, read by others.
#pragma once

#include <holdfast/http/server.hpp>

#include <atomic>
#include <cstdint>

namespace holdfast::http {

/// Written by its io thread alone, so it needs no read-modify-write; relaxed: statistics only, no
/// data is read because of it. base/published.hpp would publish more than is needed here.
class Counter {
public:
    void add(std::uint64_t more) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t get() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> value_{};
};

struct alignas(64) Counters {
    Counter opened, closed, refused, accept_pauses;
    Counter requests, batches, bytes_in, bytes_out;
    Counter replies_2xx, replies_4xx, replies_5xx, exceptions, handshakes_failed;
    Counter half_read_heads_refused, handlers_late;
    Counter streams_opened, streams_closed, streams_dropped;

    void add_to(ServerCounts& sum) const noexcept {
        sum.connections_open += opened.get() - closed.get();
        sum.connections_accepted += opened.get();
        sum.connections_refused += refused.get();
        sum.accept_pauses += accept_pauses.get();
        sum.requests += requests.get();
        sum.batches += batches.get();
        sum.bytes_in += bytes_in.get();
        sum.bytes_out += bytes_out.get();
        sum.replies_2xx += replies_2xx.get();
        sum.replies_4xx += replies_4xx.get();
        sum.replies_5xx += replies_5xx.get();
        sum.handler_exceptions += exceptions.get();
        sum.streams_open += streams_opened.get() - streams_closed.get();
        sum.streams_opened += streams_opened.get();
        sum.streams_dropped += streams_dropped.get();
        sum.handshakes_failed += handshakes_failed.get();
        sum.half_read_heads_refused += half_read_heads_refused.get();
        sum.handlers_late += handlers_late.get();
    }
};

}  // namespace holdfast::http
