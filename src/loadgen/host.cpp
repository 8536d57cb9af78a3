#include "loadgen/host.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <stdlib.h>
#include <sys/resource.h>
#include <system_error>

namespace holdfast::loadgen {
namespace {

std::string random_token() {
    constexpr std::string_view digits = "0123456789abcdef";
    std::random_device device;
    std::string token;
    for (int i = 0; i < 48; ++i) token.push_back(digits[device() % digits.size()]);
    return token;
}

std::filesystem::path new_scratch_folder() {
    auto name = (std::filesystem::temp_directory_path() / "holdfast-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        throw std::system_error(errno, std::generic_category(), "cannot make " + name);
    }
    return name;
}

}  // namespace

Host::Host(SaleOptions const& options) : url_(options.url), admin_token_(options.admin_token) {
    if (!url_.empty()) return;
    admin_token_ = random_token();
    scratch_ = new_scratch_folder();
    // Short holds, so that what buyers abandon is for sale again while the bench runs.
    child_ = std::make_unique<ChildServer>(ChildServer::Options{
        .executable = options.executable,
        .data = scratch_ / "data",
        .log = scratch_ / "server.log",
        .environment = {"HOLDFAST_ADMIN_TOKEN=" + admin_token_, "HOLDFAST_HOLD_TTL_MIN_S=1",
                        "HOLDFAST_HOLD_RESTART_GRACE_S=5", "HOLDFAST_LOG_LEVEL=warn",
                        "HOLDFAST_HTTP_CONNECTIONS_MAX=" + std::to_string(options.clients + 64)}});
}

Host::~Host() {
    child_.reset();
    std::error_code ignored;  // the temporary folder is cleared by the system some day
    if (!keep_ && !scratch_.empty()) std::filesystem::remove_all(scratch_, ignored);
}

ResultOf<Url, FetchError> Host::start() {
    if (!own()) return parse_url(url_);
    auto const began = std::chrono::steady_clock::now();
    auto url = child_->start();
    std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - began;
    if (starts_++ > 0) restart_ms_ = std::max(restart_ms_, took.count());
    return url;
}

std::optional<std::string> Host::ended() {
    return own() ? child_->ended() : std::nullopt;
}

std::filesystem::path const& Host::keep() {
    keep_ = true;
    return scratch_;
}

bool allow_open_files(std::uint64_t wanted) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    if (limit.rlim_cur >= wanted) return true;
    limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= wanted;
}

}  // namespace holdfast::loadgen
