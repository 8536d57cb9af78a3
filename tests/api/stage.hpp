// Stage: the routes of api over a real engine, a real store and a journal in memory.
//
// Purpose: handler tests without sockets. The test plays the projector: what it wants to be read
// from the store it puts there with record_order(). Thread safety: one thread.
#pragma once

#include "api/blocks.hpp"
#include "api/holds.hpp"
#include "api/ops.hpp"
#include "api/orders.hpp"
#include "tests/api/sample_event.hpp"
#include "tests/support/memory_journal.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/journal/disk.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

class Stage {
public:
    static constexpr std::string_view admin_token = "operator-token-of-the-tests";

    explicit Stage(EventSpec spec = sample_event());
    ~Stage();
    Stage(Stage const&) = delete;
    Stage& operator=(Stage const&) = delete;

    struct Answer {
        unsigned status{};
        std::string body;
        std::string headers;
        std::string content_type;
        Lsn lsn{};
        /// Text of a member of the root object: a string's text, an integer in digits, else "".
        [[nodiscard]] std::string operator[](std::string_view key) const;
        /// "pointer code" of the first of `errors`; the code alone for the whole body.
        [[nodiscard]] std::string error() const;
        [[nodiscard]] std::string header(std::string_view name) const;
    };
    /// Sends a request; `authorization` empty: no such field.
    Answer send(http::Method method, std::string const& target, std::string const& body = {},
                std::string const& authorization = {}) {
        return send_keyed({}, method, target, body, authorization);
    }
    /// With an Idempotency-Key, if there is one.
    Answer send_keyed(std::optional<std::string> const& idempotency_key, http::Method method,
                      std::string const& target, std::string const& body = {},
                      std::string const& authorization = {});
    Answer get(std::string const& target, std::string const& authorization = {}) {
        return send(http::Method::get, target, {}, authorization);
    }
    Answer post(std::string const& target, std::string const& body,
                std::string const& authorization = {}) {
        return send(http::Method::post, target, body, authorization);
    }
    Answer del(std::string const& target, std::string const& authorization = {}) {
        return send(http::Method::del, target, {}, authorization);
    }
    Answer claim(std::string const& body) { return post("/v1/events/demo/holds", body); }

    /// Adds another event, ready for sale.
    engine::LiveEvent& add_event(EventSpec spec);
    /// One whose seats are not there yet.
    engine::LiveEvent& add_unbuilt(EventSpec spec);
    /// Puts an order into the store as the projector would.
    void record_order(std::string const& order, std::vector<std::string> const& holds);
    [[nodiscard]] bool seat_is_free(std::string_view name);

    static std::string operator_credentials() { return "Bearer " + std::string(admin_token); }

    TimePoint now{};
    MemoryJournal journal;
    std::unique_ptr<engine::Engine> engine;
    std::unique_ptr<engine::ServerKey> key;
    std::unique_ptr<api::Context> context;
    engine::LiveEvent* event{};

private:
    struct StageClock;
    TempFolder folder_;
    std::unique_ptr<store::Store> store_;
    journal::PosixDisk disk_;
    std::unique_ptr<engine::Projector> projector_;
    std::unique_ptr<services::EventSetup> setup_;
    std::unique_ptr<StageClock> clock_;
    std::optional<http::Router> router_;
    std::uint64_t next_lsn_{};
};

inline constexpr char const* demo_blocks = "/v1/events/demo/blocks";
/// The value of Authorization of the operator, and of a hold's owner.
inline std::string const staff = Stage::operator_credentials();
[[nodiscard]] inline std::string hold_credentials(Stage::Answer const& hold) {
    return "Hold " + hold["token"];
}

}  // namespace holdfast::test
