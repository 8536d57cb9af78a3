// House: the server of a soak, its folder, and where it can be had a disk whose power can be cut.
//
// Purpose: starts, ends and audits. Thread safety: one thread.
// Invariants: the folder with data, image and log is kept at the end, and told, unless
//   is_needed_no_more() was called: also when an error ends the soak.
#pragma once

#include "loadgen/child_server.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
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
    /// Empty: there is no answer.
    [[nodiscard]] std::string metrics() const;
    /// The number of the oldest segment, if there is any; grows with each deletion.
    [[nodiscard]] std::optional<std::uint64_t> first_segment() const;
    [[nodiscard]] std::uint64_t store_bytes() const;
    [[nodiscard]] std::filesystem::path journal() const { return data() / "journal"; }
    void is_needed_no_more() noexcept { keeps_ = false; }

private:
    [[nodiscard]] std::filesystem::path data() const { return folder_ / "disk" / "data"; }

    Options options_;
    std::filesystem::path folder_;
    std::unique_ptr<test::Ext4> disk_;
    std::unique_ptr<loadgen::ChildServer> server_;
    bool keeps_{true};
};

/// Why there can be no disk whose power is cut; empty: there can. Once, before any thread.
[[nodiscard]] std::string why_no_disk();

}  // namespace holdfast::soak
