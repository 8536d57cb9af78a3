// What a route brings may throw; nothing of it gets past here.
#include "http/fault.hpp"
#include "http/session.hpp"

#include <holdfast/base/log.hpp>

#include <exception>

namespace holdfast::http {
namespace {

template <class Step>
bool run_step(Route const& route, Request const& request, Reply& reply, Step step) {
    try {
        step();
        return true;
    } catch (std::exception const& error) {
        log::error("handler threw", {{"route", route.pattern}, {"what", error.what()}});
    } catch (...) {
        log::error("handler threw", {{"route", route.pattern}});
    }
    reply.reset();
    write_fault(reply, request, Fault::internal);
    return false;
}

}  // namespace

bool run_handler(Route const& route, Request const& request, Reply& reply) {
    return run_step(route, request, reply, [&] { route.handler(request, reply); });
}

namespace {

bool ask(Admission const& admission, Route const& route, Request const& request, Reply& reply,
         bool& admitted) {
    admitted = admission == nullptr;
    if (admitted) return true;
    return run_step(route, request, reply, [&] { admitted = admission(request, reply); });
}

}  // namespace

bool run_admission(Route const& route, Request const& request, Reply& reply, bool& admitted) {
    return ask(route.admission, route, request, reply, admitted);
}

bool run_large_body_admission(Route const& route, Request const& request, Reply& reply,
                              bool& admitted) {
    return ask(route.large_body_admission, route, request, reply, admitted);
}

}  // namespace holdfast::http
