// PoorHouse: a whole server in this process whose threads can be out of memory.
//
// Purpose: one life is a start on the same folder, what a test asks of it, and a stop; what a life
//   began with is kept and can be had again. Thread safety: the test's own thread; that one always
//   has memory, and so has the disk. Invariants: the journal's disk is in memory, the store and the
//   lock are files.
#pragma once

#include "app/server.hpp"
#include "tests/http/live.hpp"
#include "tests/journal/fixture.hpp"
#include "tests/support/disk_with_memory.hpp"
#include "tests/support/temp_folder.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::app::test {

/// What one request is made of.
struct Asked {
    std::string method{"GET"};
    std::string target;
    std::string body{};
    std::string authorization{};
    std::string more{};  // header lines
};
[[nodiscard]] std::string text_of(Asked const& asked);

class PoorHouse {
public:
    /// Makes an event with what a request may be about, and keeps that. `tls`: files, or none.
    explicit PoorHouse(std::shared_ptr<http::TlsIdentity const> identity = {});
    ~PoorHouse();
    PoorHouse(PoorHouse const&) = delete;
    PoorHouse& operator=(PoorHouse const&) = delete;

    /// What is kept has so many segments from now on that the next life begins to delete.
    void grow();
    /// A life on what was kept.
    void begin();
    /// Another on what this one leaves.
    void restart();
    void end();

    [[nodiscard]] live::Client connect() const { return live::Client{address_}; }
    [[nodiscard]] live::Client connect_admin() const { return live::Client{admin_address_}; }
    [[nodiscard]] std::string const& address() const noexcept { return address_; }
    /// On a connection of its own.
    live::Answer ask(Asked const& asked) const;
    /// What everybody can read once all events have their seats, without times and without what is
    /// drawn by lot.
    [[nodiscard]] std::string settled_state() const;
    /// While it has not been deleted.
    [[nodiscard]] bool has_segment(unsigned number) const;
    /// Connections that are open, but for the one that asks.
    [[nodiscard]] bool has_no_connections() const;

    static constexpr std::string_view token = "token-of-the-staff-of-the-poor-house";
    static std::string staff() { return "Bearer " + std::string{token}; }
    [[nodiscard]] std::string holder() const { return "Hold " + hold_token; }

    std::string hold, hold_token;              // A-1-1, A-1-2 and two of GA
    std::string other_hold, other_hold_token;  // A-2-5
    std::string order;                         // A-2-1, A-2-2
    std::vector<std::string> tickets;
    std::string block;  // B-1-1, B-1-2

private:
    [[nodiscard]] std::string state() const;
    void open();
    void furnish();
    void keep();
    [[nodiscard]] live::Answer must(unsigned status, Asked const& asked) const;

    holdfast::test::TempFolder folder_of_test_;
    std::filesystem::path data_{folder_of_test_.path() / "data"};
    std::shared_ptr<http::TlsIdentity const> identity_;
    std::unique_ptr<journal::test::MemoryDisk> kept_;
    std::unique_ptr<journal::test::MemoryDisk> disk_;
    std::optional<holdfast::test::DiskWithMemory> kernels_;  // that disk, for the server
    std::optional<DataFolder> folder_;
    std::unique_ptr<Server> server_;
    std::string address_, admin_address_;
};

}  // namespace holdfast::app::test
