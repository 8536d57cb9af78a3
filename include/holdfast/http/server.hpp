// Server: listens, reads requests in batches and writes replies; knows no tickets.
//
// Purpose: the front door. A session runs every complete request in its buffer, waits once for the
//   highest LSN the replies depend on, and writes them with one call (DESIGN.md 6). The guard
//   stands in front of Beast's parser and refuses what Beast 1.81 lets through (SECURITY.md 2 and
//   3).
// Thread safety: start, stop and wake from any thread; handlers of RunsOn::io run on the io
//   threads.
// Invariants: replies leave in request order; a success that carries an LSN leaves only through
//   Session::release_replies, which asserts reply.lsn <= durable_lsn; nothing escapes
//   io_context::run().
// Cost: two system calls a batch; no allocation a request in the steady state.
#pragma once

#include <holdfast/base/clock.hpp>
#include <holdfast/base/descriptor.hpp>
#include <holdfast/domain/ids.hpp>
#include <holdfast/domain/limits.hpp>
#include <holdfast/http/front_rules.hpp>
#include <holdfast/http/router.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::http {

class TlsIdentity;  // tls.hpp

/// How far the truth is on disk. Implemented by app over the journal; read by the io threads.
class CommitGate {
public:
    virtual ~CommitGate() = default;
    [[nodiscard]] virtual Lsn durable_lsn() const noexcept = 0;
    /// The journal failed: nothing more will become durable.
    [[nodiscard]] virtual bool failed() const noexcept = 0;
    /// Around the handlers of one turn of an io thread: what they append need not be written before
    /// the end.
    virtual void begin_turn() noexcept {}
    virtual void end_turn() noexcept {}
};

/// Runs worker handlers. Implemented by app's worker pool.
class Workers {
public:
    virtual ~Workers() = default;
    /// False: the queue is full, the job was not taken; the session answers 503 `busy`.
    [[nodiscard]] virtual bool submit(std::function<void()> job) = 0;
};

struct ServerOptions {
    std::string listen{"127.0.0.1:8080"};  // ADDR:PORT, [v6]:PORT; port 0 takes a free one
    unsigned threads{1};                   // io threads, 1 ... limits::threads_max
    std::size_t connections_max{10'000};
    std::size_t connections_per_address_max{100};
    std::size_t half_read_heads_per_address_max{32};
    bool limit_loopback{false};  // limits by address spare loopback unless true
    Milliseconds head_timeout{5'000};
    Milliseconds body_timeout{10'000};
    Milliseconds idle_timeout{15'000};
    Milliseconds write_timeout{10'000};
    Milliseconds handler_timeout{5'000};  // of those on workers, from the queue on
    Milliseconds connection_life{3'600'000};
    Milliseconds stream_heartbeat{15'000};
    std::shared_ptr<TlsIdentity const> tls;  // null: plain HTTP
    Milliseconds handshake_timeout{5'000};   // of TLS and of a proxy's header, in all
    std::uint32_t hsts_max_age_s{};          // with TLS; 0: no Strict-Transport-Security
    HostNames hosts;                         // others are answered 421
    TrustedProxies proxies;
    CrossOriginRules cross_origin;
};

/// Counters the server keeps; read by /metrics.
struct ServerCounts {
    std::uint64_t connections_open{}, connections_accepted{}, connections_refused{};
    std::uint64_t accept_pauses{};  // without descriptors or memory nobody is accepted until a tick
    std::uint64_t requests{}, batches{}, bytes_in{}, bytes_out{};
    std::uint64_t replies_2xx{}, replies_4xx{}, replies_5xx{}, handler_exceptions{};
    std::uint64_t streams_open{}, streams_opened{};
    std::uint64_t streams_dropped{};  // fell behind, or took nothing for the write timeout
    std::uint64_t handshakes_failed{};
    std::uint64_t half_read_heads_refused{};
    std::uint64_t handlers_late{};
};

/// Whether nobody can listen at both: at one port, at the same address or one of them at any, where
/// any v4 has no v6 ones. Each port 0 is another. Throws std::runtime_error if one is no address.
[[nodiscard]] bool addresses_overlap(std::string const& one, std::string const& other);

/// An address that is taken before there is a server to answer at it: bound, but nobody can connect
/// yet. A Server whose `listen` is this address() can be made beside it; then it may go.
class ReservedAddress {
public:
    /// Throws std::system_error if the address cannot be bound, somebody listens there, or there is
    /// no descriptor to keep it with.
    explicit ReservedAddress(std::string const& listen);
    /// "127.0.0.1:8080"; a port 0 has become a real one.
    [[nodiscard]] std::string const& address() const noexcept { return address_; }
    /// Whether nobody can listen at both: as long as none does, the system does not say so.
    [[nodiscard]] bool overlaps(ReservedAddress const& other) const {
        return addresses_overlap(address_, other.address_);
    }

private:
    std::string address_;
    Descriptor socket_;
};

class Server {
public:
    /// Throws std::system_error if the address cannot be bound.
    Server(ServerOptions const& options, Router router, CommitGate& gate, Workers& workers,
           Clock const& clock);
    ~Server();
    Server(Server const&) = delete;
    Server& operator=(Server const&) = delete;

    void start();
    /// The address that was bound, "127.0.0.1:8080".
    [[nodiscard]] std::string address() const;
    /// durable_lsn moved or the journal failed: io threads look at their waiting replies. Any
    /// thread; cheap when nobody waits.
    void wake() noexcept;
    /// Streams may have news: the io threads ask them within a tick (100 ms), some at a time. One
    /// thread at a time.
    void announce() noexcept;
    /// New connections get this identity; only for a server that was made with one. Any thread.
    void set_identity(std::shared_ptr<TlsIdentity const> identity);
    /// Stops accepting, lets requests in flight finish (at most `grace`), closes, joins the
    /// threads.
    void stop(Milliseconds grace);
    [[nodiscard]] ServerCounts counts() const noexcept;
    /// How long ready connections wait for their io thread: the mean of the last tenth of a second,
    /// of the thread where it is longest.
    [[nodiscard]] std::chrono::microseconds io_wait() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace holdfast::http
