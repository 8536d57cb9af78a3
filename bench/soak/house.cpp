#include "bench/soak/house.hpp"

#include "tests/support/child.hpp"
#include "tests/support/mounts.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <stdlib.h>
#include <utility>

namespace holdfast::soak {
namespace {

constexpr std::chrono::hours audit_takes_at_most{1};

}  // namespace

std::string why_no_disk() {
    return test::why_no_own_mounts();
}

House::House(Options options) : options_(std::move(options)) {
    std::string text = (options_.below / "holdfast-soak-XXXXXX").string();
    if (::mkdtemp(text.data()) == nullptr)
        throw std::system_error(errno, std::generic_category(), "a folder " + text);
    folder_ = text;
    std::filesystem::create_directories(folder_ / "disk");
    if (options_.disk_bytes > 0)
        disk_ =
            std::make_unique<test::Ext4>(folder_ / "image", folder_ / "disk", options_.disk_bytes);
    server_ = std::make_unique<loadgen::ChildServer>(loadgen::ChildServer::Options{
        .executable = options_.executable,
        .data = data(),
        .log = folder_ / "log",
        // Short lives, and memory for answers that is full within minutes, so that what grows for
        // a day by design has stopped growing before it is measured.
        .environment = {"HOLDFAST_ADMIN_TOKEN=" + options_.admin_token, "HOLDFAST_HOLD_TTL_MIN_S=1",
                        "HOLDFAST_HOLD_RESTART_GRACE_S=5",
                        "HOLDFAST_IDEMPOTENCY_MARKS_BYTES_MAX=4194304",
                        "HOLDFAST_IDEMPOTENCY_REFUSALS_BYTES_MAX=1048576",
                        "HOLDFAST_STORAGE_SEGMENT_BYTES=" + std::to_string(options_.segment_bytes),
                        "HOLDFAST_LOG_LEVEL=warn"}});
}

House::~House() {
    server_.reset();
    disk_.reset();
    std::error_code ignored;  // a folder that stays is no wrong result
    if (keeps_)
        std::printf("its folder is kept: %s\n", folder_.c_str());
    else
        std::filesystem::remove_all(folder_, ignored);
}

loadgen::Url House::start() {
    auto const url = server_->start();
    if (!url) throw std::runtime_error(url.error().text);
    return *url;
}

void House::cut_power() {
    disk_->cut_power();
    server_->kill_now();
    disk_->mount_again();
}

std::string House::audit() const {
    test::Child child({options_.executable.string(), "audit", "--data", data().string()});
    int const code = child.wait(audit_takes_at_most);
    if (code == 0) return {};
    return "exit " + std::to_string(code) + ": " + child.rest_of_errors() + child.rest_of_output();
}

std::string House::metrics() const {
    loadgen::Query const look{.method = "GET", .target = "/metrics", .fields = {}, .body = {}};
    auto const reply = loadgen::fetch(loadgen::to_text(server_->admin()), look);
    return reply && reply->status == 200 ? reply->body : "";
}

std::optional<std::uint64_t> House::first_segment() const {
    std::optional<std::uint64_t> first;
    std::error_code none;  // no folder, no segments
    for (auto const& entry : std::filesystem::directory_iterator(journal(), none)) {
        if (entry.path().extension() != ".hfj") continue;
        std::uint64_t const number = std::stoull(entry.path().stem().string());
        first = std::min(first.value_or(number), number);
    }
    return first;
}

std::uint64_t House::store_bytes() const {
    std::error_code none;
    auto const bytes = std::filesystem::file_size(data() / "store.db", none);
    return none ? 0 : bytes;
}

}  // namespace holdfast::soak
