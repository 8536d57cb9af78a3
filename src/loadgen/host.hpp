// Host: the server that a bench sale runs against, own child or somebody's.
//
// Purpose: hides the difference; only an own server can be stopped abruptly.
// Thread safety: one owner.
// Invariants: the scratch folder is removed at the end, unless keep() was called.
#pragma once

#include "loadgen/child_server.hpp"
#include "loadgen/client.hpp"

#include <holdfast/loadgen/bench_sale.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace holdfast::loadgen {

class Host {
public:
    explicit Host(SaleOptions const& options);
    ~Host();
    Host(Host const&) = delete;
    Host& operator=(Host const&) = delete;

    /// First call: starts the child or takes the URL. Again, after stop_now(): the restart.
    [[nodiscard]] ResultOf<Url, FetchError> start();
    [[nodiscard]] bool own() const noexcept { return child_ != nullptr; }
    /// kill -9 of the own server.
    void stop_now() { child_->kill_now(); }
    /// How the own server ended by itself, if it did.
    [[nodiscard]] std::optional<std::string> ended();
    [[nodiscard]] std::string const& admin_token() const noexcept { return admin_token_; }
    /// An own server ran, so there is something to keep.
    [[nodiscard]] bool has_data() const noexcept { return own() && starts_ > 0; }
    [[nodiscard]] double restart_ms() const noexcept { return restart_ms_; }
    /// The scratch folder stays for the one who looks for the cause; its path.
    std::filesystem::path const& keep();

private:
    std::string url_;
    std::string admin_token_;
    std::filesystem::path scratch_;
    bool keep_{};
    std::uint32_t starts_{};
    double restart_ms_{};
    std::unique_ptr<ChildServer> child_;
};

/// Lifts the limit of open files to `wanted` if the hard limit allows it.
[[nodiscard]] bool allow_open_files(std::uint64_t wanted);

}  // namespace holdfast::loadgen
