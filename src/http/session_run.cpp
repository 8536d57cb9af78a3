// From the bytes in the buffer to replies in the output.
#include "http/client_address.hpp"
#include "http/fault.hpp"
#include "http/head_parser.hpp"
#include "http/session.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/domain/limits.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::http {
namespace {

constexpr std::string_view every_method = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
constexpr std::size_t request_id_bytes_max = 64;

bool acceptable_id(std::string_view id) noexcept {
    auto const good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.' || c == ':' || c == '/' || c == '+' || c == '=';
    };
    return !id.empty() && id.size() <= request_id_bytes_max &&
           std::all_of(id.begin(), id.end(), good);
}

}  // namespace

Session::Progress Session::run_batch() {
    now_ = thread_.shared().clock.now();
    std::size_t ran = 0;
    Progress progress = Progress::ran;
    while (ran < limits::batch_requests_max && !close_after_write_ &&
           out_.size() + apart_.bytes() < limits::batch_reply_bytes_max) {
        progress = run_next();
        if (progress != Progress::ran) break;
        ++ran;
    }
    if (ran != 0) thread_.counts().batches.add(1);
    starved_ = progress == Progress::starved;
    return progress;
}

Session::Progress Session::run_next() {
    if (begin_ == size_) return Progress::starved;
    bool const fresh = !head_ready_;
    Request request = new_request();
    Match match;
    if (fresh) {
        Progress const head = scan_head(request, match);
        if (head != Progress::ran) return head;
    }
    Progress const body = await_body();
    if (body != Progress::ran) return body;
    // The buffer may have moved since the head was parsed.
    if (!fresh && !prepare(request, match)) return refuse(Fault::field);
    return run_whole(request, match);
}

Session::Progress Session::scan_head(Request& request, Match& match) {
    Verdict const verdict = guard_.scan(unread());
    if (verdict == Verdict::need_more) return Progress::starved;
    uncount_half_read_head();
    if (verdict == Verdict::refused) return refuse(guard_.fault(), request);
    Head const& head = guard_.head();
    if (!prepare(request, match)) return refuse(Fault::field, request);
    HostNames const& hosts = thread_.shared().options.hosts;
    if (!hosts.any() && !hosts.contain(guard_.host(unread())))
        return refuse(Fault::misdirected, request);
    Fault fault = judge_length(request, match);
    bool const asks = head.expects_continue && head.has_body();
    if (fault == Fault::none && asks && match.route != nullptr) fault = judge_media();
    if (fault != Fault::none) return refuse(fault, request);
    if (asks && match.route == nullptr) {
        // The final answer instead of 100: the client may send its body or not, so the
        // connection cannot go on.
        close_after_write_ = true;
        Progress const answered = answer_unserved(request, match, Fault::none);
        return answered == Progress::ran ? Progress::ended : answered;
    }
    Progress const admitted = refuse_large_body(request, match);
    if (admitted != Progress::ran) return admitted;
    if (!reserve_large_body()) return refuse(Fault::busy, request);
    head_ready_ = true;
    continued_ = false;
    body_bytes_ = head.chunked ? 0 : static_cast<std::size_t>(head.content_length);
    raw_end_ = head.bytes + body_bytes_;
    if (head.chunked) decoder_ = ChunkDecoder{body_bytes_max_};
    return Progress::ran;
}

/// With what is known before its head is read.
Request Session::new_request() const noexcept {
    Request request;
    request.received_at = now_;
    request.loopback_peer = peer_.loopback;
    request.peer = peer_.bytes;
    return request;
}

bool Session::prepare(Request& request, Match& match) {
    Head const& head = guard_.head();
    if (!name_head(guard_, unread(), thread_.fields(), request)) return false;
    if (peer_.trusted) name_client(request);
    request.request_id = request.field("X-Request-Id");
    if (!acceptable_id(request.request_id)) request.request_id = thread_.make_request_id();
    if (head.options_star) {
        match = Match{nullptr, 204, std::string{every_method}};
    } else {
        match = thread_.shared().router.match(request);
    }
    return true;
}

/// A trusted proxy asks for others, in turn.
void Session::name_client(Request& request) const {
    TrustedProxies const& proxies = thread_.shared().options.proxies;
    if (proxies.named_by == ClientNamedBy::proxy_protocol) return;  // the whole connection was
    auto const client = named_client(request, proxies);
    if (!client) return;
    PeerKey const key = key_named_by(peer_, *client);
    request.loopback_peer = key.loopback;
    request.peer = key.bytes;
}

Fault Session::judge_length(Request const& request, Match const& match) {
    Head const& head = guard_.head();
    // A body without a route is read, so that the connection can live on, and thrown away.
    body_bytes_max_ = match.route != nullptr ? match.route->body_bytes_max : limits::body_bytes_max;
    if (!head.has_body()) return Fault::none;
    if (request.method == Method::del && (match.route == nullptr || body_bytes_max_ == 0)) {
        return Fault::unexpected_body;
    }
    return head.content_length > body_bytes_max_ ? over_length() : Fault::none;
}

/// "Too large" would send the reader looking for a smaller body where none is taken at all.
Fault Session::over_length() const noexcept {
    return body_bytes_max_ == 0 ? Fault::unexpected_body : Fault::body_too_large;
}

Fault Session::judge_media() const noexcept {
    Head const& head = guard_.head();
    if (head.foreign_coding) return Fault::content_coding;
    return head.json ? Fault::none : Fault::media_type;
}

Session::Progress Session::await_body() {
    Head const& head = guard_.head();
    if (!head.chunked) {
        if (size_ - begin_ >= raw_end_) return Progress::ran;
    } else {
        char* const payload = buffer_.get() + begin_ + head.bytes;
        ChunkDecoder::Step const step =
            decoder_.feed(unread().substr(raw_end_), payload + body_bytes_);
        body_bytes_ += step.produced;
        raw_end_ += step.consumed;
        if (decoder_.fault() == Fault::body_too_large) return refuse(over_length());
        if (decoder_.fault() != Fault::none) return refuse(decoder_.fault());
        if (decoder_.done()) return Progress::ran;
        // All there was is decoded: the room of the chunk headers is free again.
        raw_end_ = head.bytes + body_bytes_;
        size_ = begin_ + raw_end_;
    }
    if (head.expects_continue && !continued_) {
        continued_ = true;
        out_.append("HTTP/1.1 100 Continue\r\n\r\n");
    }
    return Progress::starved;
}

Session::Progress Session::run_whole(Request& request, Match const& match) {
    request.body = unread().substr(guard_.head().bytes, body_bytes_);
    bool const judged = match.route != nullptr && !request.body.empty();
    Fault const fault = judged ? judge_media() : Fault::none;
    if (match.route == nullptr || fault != Fault::none) {
        Progress const answered = answer_unserved(request, match, fault);
        if (answered == Progress::ran) consume();
        return answered;
    }
    Reply& reply = thread_.reply();
    reply.reset();
    bool const on_worker =
        match.route->runs_on == RunsOn::worker && !is_at_hand(*match.route, request);
    if (on_worker && !out_.empty())
        return Progress::ended;  // what was answered so far leaves first; then it is met again
    bool admitted = false;
    HandlerEnd end = run_admission(*match.route, request, reply, admitted);
    if (admitted && on_worker) {
        Fault const refused = start_job(request, *match.route, reply);
        if (refused == Fault::none) return Progress::working;
        if (!answer_fault(request, reply, refused)) end = HandlerEnd::untold;
    } else if (admitted) {
        end = run_handler(*match.route, request, reply);
    }
    if (end != HandlerEnd::returned) thread_.counts().exceptions.add(1);
    if (end == HandlerEnd::untold) return leave_untold();
    append_reply(request, reply);
    consume();
    return Progress::ran;
}

/// Nothing is said of this request, nor of those behind it: of one that has happened the end of the
/// connection says that the journal knows. What was answered before leaves first.
Session::Progress Session::leave_untold() {
    if (out_.empty()) {
        // Closed with bytes unread, the kernel would throw away what of answers is on its way.
        if (wire_.bytes_not_taken() > 0)
            start_drain();
        else
            close();
        return Progress::closed;
    }
    close_after_write_ = true;
    return Progress::ended;
}

/// A request that no handler gets is counted like any other.
Session::Progress Session::answer_unserved(Request const& request, Match const& match,
                                           Fault fault) {
    Reply& reply = thread_.reply();
    reply.reset();
    bool admitted = false;
    HandlerEnd const end =
        run_unserved_admission(thread_.shared().router, request, reply, admitted);
    if (end != HandlerEnd::returned) thread_.counts().exceptions.add(1);
    if (end == HandlerEnd::untold) return leave_untold();
    if (admitted) {
        if (match.route == nullptr)
            write_unmatched(request, match, reply);
        else
            write_fault(reply, request, fault);
    }
    append_reply(request, reply);
    return Progress::ran;
}

void Session::write_unmatched(Request const& request, Match const& match, Reply& reply) {
    if (match.status == 204) {
        reply.status = 204;
    } else {
        write_fault(reply, request, match.status == 405 ? Fault::method : Fault::not_found);
    }
    if (!match.allow.empty()) reply.add_header("Allow", match.allow);
    if (match.status == 204) thread_.shared().cross_origin.grant(request, match.allow, reply);
}

void Session::append_reply(Request const& request, Reply& reply) {
    // To HEAD the head is all; the bytes behind it would never be a request.
    auto stream = std::exchange(reply.stream, nullptr);
    bool const streams = stream != nullptr;
    if (streams && request.method != Method::head) stream_ = std::move(stream);
    close_after_write_ |= reply.close || streams || guard_.head().close || thread_.stopping() ||
                          thread_.wheel().now() >= life_end_;
    if (reply.lsn != no_lsn) {
        marks_.push_back(Mark{out_.size(), begin_, reply.lsn});
        highest_ = std::max(highest_, reply.lsn);
    }
    if (reply.lease.holds()) leases_.push_back(std::move(reply.lease));
    rests_ |= reply.rests;
    bool const apart = leaves_apart(request, reply);
    ReplyStyle const style{request.method == Method::head,
                           close_after_write_,
                           request.request_id,
                           thread_.shared().cross_origin.lines(request),
                           streams,
                           apart};
    thread_.writer().append(out_, reply, style);
    if (apart) {
        std::string_view const bytes = reply.content();
        apart_.add(out_.size(), bytes, std::move(reply.shared_body));
        wire_.keep_unsent(limits::large_body_socket_bytes);
    }
    reply.shared_body.reset();  // of a HEAD, or copied: it must not live on until the next request
    Counters& counts = thread_.counts();
    counts.requests.add(1);
    if (reply.status < 400) {
        counts.replies_2xx.add(1);
    } else {
        (reply.status < 500 ? counts.replies_4xx : counts.replies_5xx).add(1);
    }
}

/// What lives on anyway need not lie in the output, too, until a slow reader has taken it. Only of
/// a 200: 204 and 304 have no body, whatever their reply holds, and no other one shares its own.
bool Session::leaves_apart(Request const& request, Reply const& reply) noexcept {
    bool const lives = !reply.constant_body.empty() || reply.shared_body != nullptr;
    return lives && reply.content().size() >= limits::body_bytes_apart_min && reply.status == 200 &&
           request.method != Method::head;
}

void Session::consume() noexcept {
    begin_ += raw_end_;
    head_ready_ = reprieved_ = false;
    guard_.reset();
    clocked_ = Clocked::none;
    give_large_body();
}

bool Session::is_large_body() const noexcept {
    Head const& head = guard_.head();
    return head.chunked ? body_bytes_max_ > limits::body_bytes_max
                        : head.content_length > limits::body_bytes_max;
}

/// Unless whoever sends it may: then the body is not read.
Session::Progress Session::refuse_large_body(Request const& request, Match const& match) {
    if (!is_large_body()) return Progress::ran;
    HOLDFAST_ASSERT(match.route != nullptr);  // without one its length was judged too large
    Reply& reply = thread_.reply();
    reply.reset();
    bool admitted = false;
    HandlerEnd const end = run_large_body_admission(*match.route, request, reply, admitted);
    if (end != HandlerEnd::returned) thread_.counts().exceptions.add(1);
    if (end == HandlerEnd::untold) return leave_untold();
    if (admitted) return Progress::ran;
    reply.close = true;
    append_reply(request, reply);
    return Progress::ended;
}

/// Few bodies may be large at one time, so that their senders cannot fill the memory together.
bool Session::reserve_large_body() noexcept {
    if (!is_large_body()) return true;
    large_body_ = thread_.take_large_body();
    return large_body_;
}

void Session::give_large_body() noexcept {
    if (std::exchange(large_body_, false)) thread_.give_large_body();
}

/// Whether it takes from a bucket. Without a head nobody knows for whom a trusted proxy asks.
bool Session::is_charged(Fault fault, Request const& request) const noexcept {
    bool const has_head = !request.request_id.empty();
    return is_of_client(fault) && (has_head || !peer_.trusted);
}

/// The connection ends with it. Whoever has made too many requests is not even told.
Session::Progress Session::refuse(Fault fault, Request const& request) {
    uncount_half_read_head();  // nothing more is read of it
    Reply& reply = thread_.reply();
    reply.reset();
    Request named = request;
    if (named.request_id.empty()) named.request_id = thread_.make_request_id();
    bool admitted = true;
    HandlerEnd end = HandlerEnd::returned;
    if (is_charged(fault, request))
        end = run_fault_admission(thread_.shared().router, named, reply, admitted);
    if (end != HandlerEnd::returned) thread_.counts().exceptions.add(1);
    if (end == HandlerEnd::untold || (end == HandlerEnd::returned && !admitted))
        return leave_untold();
    if (admitted) write_fault(reply, named, fault);
    if (fault == Fault::method) reply.add_header("Allow", every_method);
    reply.close = true;
    append_reply(named, reply);
    return Progress::ended;
}

Session::Progress Session::refuse(Fault fault) {
    // The path is known if the head was accepted; it belongs into the problem document.
    Request request = new_request();
    Match match;
    if (head_ready_ && !prepare(request, match)) request = new_request();
    return refuse(fault, request);
}

}  // namespace holdfast::http
