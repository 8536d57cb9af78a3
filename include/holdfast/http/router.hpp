// Router: the one table of what the server answers.
//
// Purpose: finds the handler of a method and path. Patterns are literal parts and `{name}` parts,
//   e.g. "/v1/events/{event}/holds".
// Thread safety: built at start, const afterwards.
// Invariants: a path that some route matches with another method is 405 with Allow; HEAD is GET
//   without a body; OPTIONS is 204 with Allow; anything else is 404. A literal part wins over
//   `{name}`, and `{name}` takes no empty part.
// Cost: a short compare for each part of the path; no allocation but for 405 and OPTIONS.
#pragma once

#include <holdfast/http/message.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::http {

using Handler = std::function<void(Request const&, Reply&)>;
/// Runs on the io thread before the handler, also of a worker's; false: it has written the answer.
using Admission = std::function<bool(Request const&, Reply&)>;

/// Where a handler runs. An io handler must neither block nor read SQLite; a worker handler may.
enum class RunsOn : std::uint8_t { io, worker };

struct Route {
    Method method{};
    std::string pattern;
    RunsOn runs_on{RunsOn::io};
    Handler handler;
    std::string summary;                    // one line, for the documentation
    std::size_t body_bytes_max{};           // 0: no body allowed
    std::vector<std::string_view> query{};  // names it takes, literals; api refuses others
    bool unlimited{};  // whoever may ask is never told to wait: what ends a purchase, and health
    unsigned shed_from{};  // the rung of overload from which it is refused (api); 0: never
    Admission admission{};
    /// Asked as soon as the head announces a body over limits::body_bytes_max (or a chunked one
    /// that may be): whoever is refused must not fill a place for large bodies. `admission` is
    /// asked all the same later.
    Admission large_body_admission{};
    /// Of a worker's handler: whether this request is so little work that the io thread runs it.
    /// What it looked up for that is left in Request::found. Asked before the admission.
    std::function<bool(Request&)> at_hand{};
};

struct Match {
    Route const* route{};  // null: `status` says 404, 405 or 204 (OPTIONS)
    unsigned status{};
    std::string allow;  // for 405 and 204
};

class Router {
public:
    /// `unserved` is asked before the answer to what reaches no handler: 404, 405 and OPTIONS, and
    /// 415 of any route. `faults`: before the answer to a fault of the client that ends its
    /// connection; the request may have no more than the peer. False: it ends without an answer.
    explicit Router(std::vector<Route> routes, Admission unserved = {}, Admission faults = {});
    ~Router();
    Router(Router&&) noexcept;
    /// Fills request.parameters, and request.route if some route has the path. A percent-escape is
    /// decoded only in parameters that need it by the handlers; paths are compared as sent.
    [[nodiscard]] Match match(Request& request) const;
    [[nodiscard]] std::vector<Route> const& routes() const noexcept;
    [[nodiscard]] Admission const& unserved() const noexcept;
    [[nodiscard]] Admission const& faults() const noexcept;

private:
    struct Table;
    std::unique_ptr<Table> table_;
};

}  // namespace holdfast::http
