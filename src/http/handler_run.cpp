// What a route brings may throw; nothing of it gets past here.
#include "http/fault.hpp"
#include "http/session.hpp"

#include <holdfast/base/log.hpp>

#include <exception>
#include <new>

namespace holdfast::http {
namespace {

/// Whether the handler had done what the reply was to tell of.
bool has_happened(Request const& request, Reply const& reply) noexcept {
    bool const reads = request.method == Method::get || request.method == Method::head;
    return !reads && (reply.lsn != no_lsn || reply.happened);
}

HandlerEnd end_with(Request const& request, Reply& reply, Fault fault) noexcept {
    return answer_fault(request, reply, fault) ? HandlerEnd::threw : HandlerEnd::untold;
}

template <class Step>
HandlerEnd run_step(std::string_view pattern, Request const& request, Reply& reply,
                    Step step) noexcept {
    try {
        step();
        return HandlerEnd::returned;
    } catch (std::bad_alloc const&) {
        log::error("no memory for a request",
                   {{"route", pattern}, {"request_id", request.request_id}});
        if (has_happened(request, reply)) return HandlerEnd::untold;
        return end_with(request, reply, Fault::no_memory);
    } catch (std::exception const& error) {
        log::error(
            "handler threw",
            {{"route", pattern}, {"request_id", request.request_id}, {"what", error.what()}});
    } catch (...) {
        log::error("handler threw", {{"route", pattern}, {"request_id", request.request_id}});
    }
    return end_with(request, reply, Fault::internal);
}

HandlerEnd ask(Admission const& admission, std::string_view pattern, Request const& request,
               Reply& reply, bool& admitted) noexcept {
    admitted = admission == nullptr;
    if (admitted) return HandlerEnd::returned;
    return run_step(pattern, request, reply, [&] { admitted = admission(request, reply); });
}

}  // namespace

bool answer_fault(Request const& request, Reply& reply, Fault fault) noexcept {
    try {
        reply.reset();
        write_fault(reply, request, fault);
        return true;
    } catch (std::bad_alloc const&) {
        return false;
    }
}

bool is_at_hand(Route const& route, Request& request) noexcept {
    if (route.at_hand == nullptr) return false;
    try {
        if (route.at_hand(request)) return true;
    } catch (...) {
        // The worker meets it again, and answers it.
    }
    request.found.reset();
    return false;
}

HandlerEnd run_handler(Route const& route, Request const& request, Reply& reply) noexcept {
    return run_step(route.pattern, request, reply, [&] { route.handler(request, reply); });
}

HandlerEnd run_admission(Route const& route, Request const& request, Reply& reply,
                         bool& admitted) noexcept {
    return ask(route.admission, route.pattern, request, reply, admitted);
}

HandlerEnd run_large_body_admission(Route const& route, Request const& request, Reply& reply,
                                    bool& admitted) noexcept {
    return ask(route.large_body_admission, route.pattern, request, reply, admitted);
}

HandlerEnd run_unserved_admission(Router const& router, Request const& request, Reply& reply,
                                  bool& admitted) noexcept {
    return ask(router.unserved(), request.route, request, reply, admitted);
}

HandlerEnd run_fault_admission(Router const& router, Request const& request, Reply& reply,
                               bool& admitted) noexcept {
    return ask(router.faults(), request.route, request, reply, admitted);
}

}  // namespace holdfast::http
