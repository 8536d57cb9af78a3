#include <holdfast/base/assert.hpp>
#include <holdfast/http/router.hpp>

#include <algorithm>
#include <array>

namespace holdfast::http {
namespace {

constexpr std::size_t methods = static_cast<std::size_t>(Method::other);
constexpr std::size_t depth_max = 8;  // parts of a path
using NodeIndex = std::uint32_t;
constexpr NodeIndex no_node = 0;  // the root is nobody's child

struct Node {
    std::string literal;  // this node's own part
    std::vector<NodeIndex> children;
    NodeIndex parameter{no_node};
    std::array<Route const*, methods> routes{};
    bool has_route{};
};

/// A place in the table to come back to when a literal part turned out wrong.
struct Place {
    NodeIndex node{};
    std::size_t at{};  // where the next part of the path starts
    std::size_t parameters{};
    std::string_view parameter{};  // value of the last one, written when the place is entered
};

bool is_parameter(std::string_view part) noexcept {
    return part.size() > 2 && part.front() == '{' && part.back() == '}';
}

}  // namespace

struct Router::Table {
    std::vector<Route> routes;
    Admission unserved, faults;
    std::vector<Node> nodes;

    NodeIndex child(NodeIndex parent, std::string_view part) const noexcept {
        for (NodeIndex const candidate : nodes[parent].children) {
            if (nodes[candidate].literal == part) return candidate;
        }
        return no_node;
    }

    NodeIndex grow(NodeIndex parent, std::string_view part) {
        bool const parameter = is_parameter(part);
        NodeIndex const known = parameter ? nodes[parent].parameter : child(parent, part);
        if (known != no_node) return known;
        auto const added = static_cast<NodeIndex>(nodes.size());
        nodes.emplace_back();
        if (parameter) {
            nodes[parent].parameter = added;
        } else {
            nodes[added].literal = part;
            nodes[parent].children.push_back(added);
        }
        return added;
    }

    void add(Route const& route) {
        std::string_view rest = route.pattern;
        HOLDFAST_ASSERT(rest.starts_with('/'));
        HOLDFAST_ASSERT(route.method != Method::other);
        NodeIndex node = 0;
        std::size_t depth = 0;
        std::size_t parameters = 0;
        while (!rest.empty()) {
            rest.remove_prefix(1);
            std::size_t const end = std::min(rest.find('/'), rest.size());
            if (is_parameter(rest.substr(0, end))) ++parameters;
            node = grow(node, rest.substr(0, end));
            rest.remove_prefix(end);
            ++depth;
        }
        HOLDFAST_ASSERT(depth <= depth_max);
        HOLDFAST_ASSERT(parameters <= Request{}.parameters.size());
        Route const*& place = nodes[node].routes[static_cast<std::size_t>(route.method)];
        HOLDFAST_ASSERT(place == nullptr);  // two routes of one method and pattern
        place = &route;
        nodes[node].has_route = true;
    }

    /// Follows the path from `place` to the node with routes that it names, else no_node. Hands
    /// `{name}` branches that were not taken to `keep`.
    template <class Keep>
    NodeIndex descend(Place place, Request& request, Keep keep) const {
        std::string_view const path = request.path;
        while (place.at < path.size()) {
            std::size_t const begin = place.at + 1;
            std::size_t const end = std::min(path.find('/', begin), path.size());
            std::string_view const part = path.substr(begin, end - begin);
            NodeIndex const literal = child(place.node, part);
            NodeIndex const parameter = part.empty() ? no_node : nodes[place.node].parameter;
            if (literal == no_node && parameter == no_node) return no_node;
            if (literal == no_node) {
                request.parameters[place.parameters] = part;
                place = Place{parameter, end, place.parameters + 1, part};
                continue;
            }
            if (parameter != no_node) keep(Place{parameter, end, place.parameters + 1, part});
            place.node = literal;
            place.at = end;
        }
        return nodes[place.node].has_route ? place.node : no_node;
    }
};

namespace {

Route const* route_of(Node const& node, Method method) noexcept {
    if (method == Method::other) return nullptr;
    Route const* route = node.routes[static_cast<std::size_t>(method)];
    if (route == nullptr && method == Method::head) {
        route = node.routes[static_cast<std::size_t>(Method::get)];
    }
    return route;
}

void note_allowed(Node const& node, std::array<bool, methods>& allowed) noexcept {
    for (std::size_t method = 0; method < methods; ++method) {
        if (node.routes[method] != nullptr) allowed[method] = true;
    }
}

std::string allow_text(std::array<bool, methods> allowed) {
    auto const index = [](Method method) { return static_cast<std::size_t>(method); };
    if (allowed[index(Method::get)]) allowed[index(Method::head)] = true;
    allowed[index(Method::options)] = true;
    std::string text;
    for (std::size_t method = 0; method < methods; ++method) {
        if (!allowed[method]) continue;
        if (!text.empty()) text.append(", ");
        text.append(to_string(static_cast<Method>(method)));
    }
    return text;
}

}  // namespace

Router::Router(std::vector<Route> routes, Admission unserved, Admission faults)
    : table_(std::make_unique<Table>()) {
    table_->routes = std::move(routes);
    table_->unserved = std::move(unserved);
    table_->faults = std::move(faults);
    table_->nodes.emplace_back();
    for (Route const& route : table_->routes) table_->add(route);
}

Router::~Router() = default;
Router::Router(Router&&) noexcept = default;

std::vector<Route> const& Router::routes() const noexcept {
    return table_->routes;
}

Admission const& Router::unserved() const noexcept {
    return table_->unserved;
}

Admission const& Router::faults() const noexcept {
    return table_->faults;
}

Match Router::match(Request& request) const {
    std::string_view const path = request.path;
    if (!path.starts_with('/')) return Match{nullptr, 404, {}};
    // Depth first, literal parts before `{name}`; `open` gains at most one place a level.
    std::array<Place, depth_max + 1> open;
    std::size_t places = 0;
    open[places++] = Place{};
    std::array<bool, methods> allowed{};
    bool path_known = false;
    while (places != 0) {
        Place place = open[--places];
        // A branch that failed wrote only parameters behind those it shares with this one.
        if (place.parameters != 0) request.parameters[place.parameters - 1] = place.parameter;
        NodeIndex const end =
            table_->descend(place, request, [&](Place const& other) { open[places++] = other; });
        if (end == no_node) continue;
        Node const& node = table_->nodes[end];
        path_known = true;
        if (Route const* route = route_of(node, request.method); route != nullptr) {
            request.route = route->pattern;
            return Match{route, 200, {}};
        }
        note_allowed(node, allowed);
        for (Route const* const route : node.routes)
            if (route != nullptr) request.route = route->pattern;
    }
    if (!path_known) return Match{nullptr, 404, {}};
    return Match{nullptr, request.method == Method::options ? 204U : 405U, allow_text(allowed)};
}

}  // namespace holdfast::http
