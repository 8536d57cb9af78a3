// The only way by which replies leave the process (RELIABILITY.md: nothing is acknowledged before
// it is on disk).
#include "http/fault.hpp"
#include "http/head_parser.hpp"
#include "http/session.hpp"

#include <holdfast/base/assert.hpp>

namespace holdfast::http {

bool Session::release_or_wait() {
    CommitGate const& gate = thread_.shared().gate;
    Lsn durable{};
    if (!marks_.empty()) {
        durable = gate.durable_lsn();
        if (highest_ > durable) {
            if (thread_.wait_for_disk(*this)) {
                state_ = State::waiting;
                thread_.wheel().clear(*this);
                return false;
            }
            durable = gate.durable_lsn();
            if (highest_ > durable) replace_lost(durable);
        }
    }
    release_replies(durable);
    return true;
}

void Session::resume_after_disk() {
    if (release_or_wait() && write_output()) after_write();
}

void Session::release_replies(Lsn durable) {
    for (Mark const& mark : marks_) HOLDFAST_ASSERT(mark.lsn <= durable);
    marks_.clear();
    leases_.clear();
    highest_ = no_lsn;
}

/// The journal failed: the first reply whose record is not on disk becomes 503, those behind it
/// are cut off with the connection.
void Session::replace_lost(Lsn durable) {
    HOLDFAST_ASSERT(thread_.shared().gate.failed());
    std::size_t kept = 0;
    while (kept < marks_.size() && marks_[kept].lsn <= durable) ++kept;
    HOLDFAST_ASSERT(kept < marks_.size());
    Mark const lost = marks_[kept];
    marks_.resize(kept);
    out_.resize(lost.reply_at);
    apart_.cut(lost.reply_at);
    std::string_view const bytes{buffer_.get() + lost.request_at, size_ - lost.request_at};
    Guard guard;
    Verdict const verdict = guard.scan(bytes);
    HOLDFAST_ASSERT(verdict == Verdict::accepted);  // this head was run
    Request request;
    bool const named = name_head(guard, bytes, thread_.fields(), request);
    HOLDFAST_ASSERT(named);  // as when it was run, by the same reader
    static_cast<void>(thread_.shared().router.match(request));  // for the problem document
    request.request_id = thread_.make_request_id();
    Reply& reply = thread_.reply();
    reply.reset();
    write_fault(reply, request, Fault::durability_lost);
    close_after_write_ = true;
    stream_.reset();  // it was behind the lost one
    thread_.counts().replies_5xx.add(1);
    thread_.writer().append(
        out_, reply,
        ReplyStyle{false, true, request.request_id, thread_.shared().cross_origin.lines(request)});
}

}  // namespace holdfast::http
