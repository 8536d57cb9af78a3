// A server under the fault shim (fault_shim.cpp).
//
// Purpose: start it with one fault planned, and see whether the fault was met.
// Thread safety: one thread.
#pragma once

#include "tests/support/server_process.hpp"
#include "tests/support/temp_folder.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

namespace holdfast::test {

inline std::map<std::string, std::string> small_variables() {
    return {{"HOLDFAST_STORAGE_SEGMENT_BYTES", "131072"}, {"HOLDFAST_LOG_LEVEL", "error"}};
}

class FaultyServer {
public:
    /// `plan` is FAULT_SHIM's text; empty: no fault. `from`: FAULT_SHIM_FROM, if it is not empty.
    FaultyServer(std::filesystem::path const& data, std::string const& plan,
                 bool mark_exists = false, std::filesystem::path const& from = {}) {
        ServerProcess::Options options{.data = data, .flags = {}, .variables = small_variables()};
        options.variables.emplace("LD_PRELOAD", HOLDFAST_FAULT_SHIM);
        options.variables.emplace("FAULT_SHIM", plan);
        options.variables.emplace("FAULT_SHIM_MARK", mark().string());
        if (!from.empty()) options.variables.emplace("FAULT_SHIM_FROM", from.string());
        if (mark_exists) std::ofstream{mark()};
        try {
            server_ = std::make_unique<ServerProcess>(options);
        } catch (std::runtime_error const& refused) {
            why_not_ = refused.what();
        }
    }

    [[nodiscard]] bool started() const noexcept { return server_ != nullptr; }
    /// What it said instead of "ready", with its exit code.
    [[nodiscard]] std::string const& why_not() const noexcept { return why_not_; }
    [[nodiscard]] ServerProcess& operator*() const { return *server_; }
    [[nodiscard]] ServerProcess* operator->() const { return server_.get(); }
    /// An error was given to the program.
    [[nodiscard]] bool met() const { return std::filesystem::exists(mark()); }
    void end_of_fault() const { std::filesystem::remove(mark()); }

private:
    [[nodiscard]] std::filesystem::path mark() const { return folder_.path() / "mark"; }

    TempFolder folder_;
    std::unique_ptr<ServerProcess> server_;
    std::string why_not_;
};

}  // namespace holdfast::test
