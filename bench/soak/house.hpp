// House: the server of a soak, its folder, and where it can be had a disk whose power can be cut.
//
// Purpose: starts, ends and audits. Thread safety: one thread.
// Invariants: the folder is removed at the end, unless keep() was called.
#pragma once

#include "loadgen/child_server.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace holdfast::test {
class Ext4;
}

namespace holdfast::soak {

class House {
public:
    struct Options {
        std::filesystem::path executable;
        std::filesystem::path below;  // the folder is made in it
        std::string admin_token;
        std::uint64_t segment_bytes{};
        std::uint64_t disk_bytes{};  // of the disk; 0: none
    };
    /// Throws with what the world lacks.
    explicit House(Options options);
    ~House();
    House(House const&) = delete;
    House& operator=(House const&) = delete;

    /// Throws with why not.
    [[nodiscard]] loadgen::Url start();
    [[nodiscard]] loadgen::ChildServer& server() noexcept { return *server_; }
    [[nodiscard]] bool has_disk() const noexcept { return disk_ != nullptr; }
    /// Of disk and server at one time; the folder is at rest then.
    void cut_power();
    /// `holdfast audit` of the folder at rest: what it found; empty: nothing.
    [[nodiscard]] std::string audit() const;
    /// Of /metrics; -1 if it is not there.
    [[nodiscard]] std::int64_t metric(std::string const& metrics, std::string const& name) const;
    [[nodiscard]] std::string metrics() const;
    /// The number of the oldest segment; grows with each deletion.
    [[nodiscard]] std::uint64_t first_segment() const;
    [[nodiscard]] std::uint64_t store_bytes() const;
    [[nodiscard]] std::filesystem::path const& keep() noexcept {
        keeps_ = true;
        return folder_;
    }

private:
    [[nodiscard]] std::filesystem::path data() const { return folder_ / "disk" / "data"; }

    Options options_;
    std::filesystem::path folder_;
    std::unique_ptr<test::Ext4> disk_;
    std::unique_ptr<loadgen::ChildServer> server_;
    bool keeps_{};
};

/// Why there can be no disk whose power is cut; empty: there can. Once, before any thread.
[[nodiscard]] std::string why_no_disk();

}  // namespace holdfast::soak
