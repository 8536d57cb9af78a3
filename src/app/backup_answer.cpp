#include "app/backup_answer.hpp"

#include <boost/json.hpp>

namespace holdfast::app {
namespace {

namespace json = boost::json;

std::string member_text(json::object const& answer, char const* name) {
    json::value const* const member = answer.if_contains(name);
    json::string const* const text = member != nullptr ? member->if_string() : nullptr;
    return text != nullptr ? std::string(*text) : std::string{};
}

}  // namespace

BackupAnswer read_backup_answer(std::string_view body) {
    boost::system::error_code wrong;
    json::value const value = json::parse(body, wrong);
    json::object const* const answer = wrong ? nullptr : value.if_object();
    if (answer == nullptr) return {};
    BackupAnswer read{.code = member_text(*answer, "code"),
                      .state = member_text(*answer, "state"),
                      .began_at = member_text(*answer, "began_at"),
                      .title = member_text(*answer, "title"),
                      .detail = member_text(*answer, "detail"),
                      .why = member_text(*answer, "why"),
                      .exit_code = 0};
    json::value const* const number = answer->if_contains("exit_code");
    std::int64_t const* const code = number != nullptr ? number->if_int64() : nullptr;
    if (code != nullptr) read.exit_code = static_cast<int>(*code);
    return read;
}

std::string sentence_of(unsigned status, BackupAnswer const& answer) {
    std::string text = answer.detail.empty() ? answer.title : answer.detail;
    if (text.empty()) return "answers " + std::to_string(status) + ", not as holdfast does";
    if (text.ends_with('.')) text.pop_back();
    if (status == 401)
        text += "; name the operator's token with --token or in HOLDFAST_ADMIN_TOKEN";
    return text + " (" + std::to_string(status) + " " + answer.code + ")";
}

}  // namespace holdfast::app
