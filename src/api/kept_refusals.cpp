#include "api/kept_refusals.hpp"

#include "api/problems.hpp"

#include <algorithm>
#include <string_view>

namespace holdfast::api {
namespace {

constexpr std::string_view before_code = ",\"code\":\"";
constexpr std::string_view may_succeed = ",\"retryable\":true";
constexpr std::string_view will_not = ",\"retryable\":false";

bool is_decided(RefusalCode code) noexcept {
    switch (code) {
        case RefusalCode::seats_unavailable:
        case RefusalCode::orphan_seat:
        case RefusalCode::sold_out:
        case RefusalCode::user_limit:
        case RefusalCode::extension_refused:
        case RefusalCode::hold_expired:
        case RefusalCode::already_confirmed:
        case RefusalCode::already_released:
        case RefusalCode::already_exists:
        case RefusalCode::illegal_transition:
            return true;
        default:
            return false;
    }
}

/// A hold that has ended or was bought is never again one that can be.
bool repeats_by_nature(RefusalCode code) noexcept {
    return code == RefusalCode::hold_expired || code == RefusalCode::already_confirmed ||
           code == RefusalCode::already_released;
}

/// Parts of a problem document (http/problem.hpp). What stands before them is escaped, so that none
/// of it looks like them.
std::string_view code_in(std::string_view body) {
    std::size_t const at = body.find(before_code);
    if (at == std::string_view::npos) return {};
    body.remove_prefix(at + before_code.size());
    return body.substr(0, body.find('"'));
}
std::string_view members_in(std::string_view body) {
    for (std::string_view const word : {may_succeed, will_not}) {
        std::size_t const at = body.find(word);
        if (at == std::string_view::npos) continue;
        body.remove_prefix(at + word.size());
        return body.substr(0, body.size() - 1);  // without the brace
    }
    return {};
}

}  // namespace

std::optional<KeptRefusal> kept_refusal(http::Reply const& reply) {
    bool const may_be = reply.status == 402 || reply.status == 409 || reply.status == 410;
    auto const code = may_be ? code_named(code_in(reply.body)) : std::nullopt;
    if (!code || !is_decided(*code)) return std::nullopt;
    auto const members = std::as_bytes(std::span(members_in(reply.body)));
    KeptRefusal kept;
    kept.by_nature = repeats_by_nature(*code);
    kept.bytes.reserve(1 + members.size());
    kept.bytes.push_back(static_cast<std::byte>(*code));
    kept.bytes.insert(kept.bytes.end(), members.begin(), members.end());
    return kept;
}

void make_final(http::Reply& reply) {
    std::size_t const at = reply.body.find(may_succeed);
    if (at != std::string::npos) reply.body.replace(at, may_succeed.size(), will_not);
}

bool write_kept(http::Reply& reply, http::Request const& request, std::span<std::byte const> kept) {
    if (kept.empty()) return false;
    auto const code = static_cast<RefusalCode>(kept.front());
    if (!is_decided(code)) return false;
    auto const members = kept.subspan(1);
    write_refusal_again(reply, request, code,
                        {reinterpret_cast<char const*>(members.data()), members.size()});
    return true;
}

}  // namespace holdfast::api
