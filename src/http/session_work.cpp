// Requests that a worker runs: there and back, and those that take too long.
#include "http/fault.hpp"
#include "http/head_parser.hpp"
#include "http/session.hpp"
#include "http/turn.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/base/log.hpp>

#include <boost/asio/post.hpp>
#include <new>
#include <utility>

namespace holdfast::http {

/// Why there is none, if so.
Fault Session::start_job(Request const& request, Route const& route, Reply& admitted) {
    try {
        auto const made = make_job(request, route, admitted);
        auto run = [job = made] {
            if (job->phase.replace(JobPhase::queued, JobPhase::begun))
                job->end = run_handler(*job->route, job->request, job->reply);
            // The job must not keep the thread alive from inside the thread's own queue.
            std::shared_ptr<IoThread> const thread = std::move(job->thread);
            auto done = [job] { job->session->job_done(*job); };
            net::post(thread->context(), kept_in(job->memory, std::move(done)));
        };
        if (!thread_.shared().workers.submit(std::move(run))) return Fault::busy;
        job_ = made;
    } catch (std::bad_alloc const&) {
        log::error("no memory for a request",
                   {{"route", route.pattern}, {"request_id", request.request_id}});
        return Fault::no_memory;
    }
    ++pending_;
    state_ = State::working;
    reprieved_ = gave_up_ = false;
    // A plan of 8 MiB is more work than anything else.
    auto const more = static_cast<std::int64_t>(body_bytes_ / body_bytes_per_timeout);
    thread_.wheel().set(*this,
                        thread_.tick_after(thread_.shared().options.handler_timeout * (1 + more)));
    return Fault::none;
}

std::shared_ptr<WorkerJob> Session::make_job(Request const& request, Route const& route,
                                             Reply& admitted) {
    Head const& head = guard_.head();
    auto job = std::make_shared<WorkerJob>();
    job->bytes.assign(unread().substr(0, head.bytes + body_bytes_));
    job->id.assign(request.request_id);
    bool const named = name_head(guard_, job->bytes, job->fields, job->request);
    HOLDFAST_ASSERT(named);  // as a moment ago, by the same reader of the same bytes
    Match const match = thread_.shared().router.match(job->request);
    HOLDFAST_ASSERT(match.route == &route);
    job->request.body = std::string_view{job->bytes}.substr(head.bytes);
    job->request.received_at = request.received_at;
    job->request.loopback_peer = request.loopback_peer;
    job->request.peer = request.peer;
    job->request.request_id = job->id;
    job->reply.lease = std::move(admitted.lease);
    job->reply.admission_headers = std::move(admitted.admission_headers);
    job->route = &route;
    job->session = this;
    job->thread = thread_.shared_from_this();
    return job;
}

void Session::job_done(WorkerJob& job) {
    Turn const turn(thread_.shared().gate);  // the requests behind it may append
    thread_.set_current(this);
    --pending_;
    job_.reset();
    if (state_ == State::closed) return job_returned();
    if (gave_up_) return;  // it was answered, and the connection is about to end
    thread_.wheel().clear(*this);
    if (job.end != HandlerEnd::returned) thread_.counts().exceptions.add(1);
    if (job.end == HandlerEnd::untold) return close();
    append_reply(job.request, job.reply);
    consume();
    starved_ = false;
    if (release_or_wait() && write_output()) after_write();
}

/// The handler has had its time. What it does cannot be stopped, and its reply is dropped when it
/// comes, as that for a connection which has ended; so nothing more may be run on this one.
void Session::give_up_job() {
    if (!std::exchange(reprieved_, true)) {
        // It may be this thread that was late: what the worker has brought back has its turn first.
        thread_.wheel().set(*this, thread_.tick_after(Milliseconds{0}));
        return;
    }
    auto const job = job_.lock();
    HOLDFAST_ASSERT(job != nullptr);  // the worker has it, or the way back
    bool const never_begins = job->phase.replace(JobPhase::queued, JobPhase::given_up);
    // Nobody reads it any more, and the next large body may take its place.
    if (never_begins) std::string{}.swap(job->bytes);
    gave_up_ = true;
    thread_.counts().handlers_late.add(1);
    now_ = thread_.shared().clock.now();
    Request request = new_request();
    Match match;
    if (!prepare(request, match)) request = new_request();
    request.request_id = job->id;  // what the log has
    Progress const refused = refuse(never_begins ? Fault::busy : Fault::late, request);
    HOLDFAST_ASSERT(refused == Progress::ended);
    if (write_output()) start_drain();
}

}  // namespace holdfast::http
