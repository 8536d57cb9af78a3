// Lingerers: connections that stay: streams of seat changes, idle ones, heads that never end.
//
// Purpose: what holds descriptors and memory without asking for much; each comes, stays for a while
//   of its own and goes, or is sent away by the server as its timers say.
// Thread safety: the loop's thread.
#pragma once

#include "loadgen/client.hpp"
#include "loadgen/dice.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::soak {

class Lingerers {
public:
    struct Options {
        std::size_t streams{20}, idle{40}, half{5};
        std::string stream_target;
        std::function<void(std::string)> wrong;
    };
    Lingerers(loadgen::Loop& loop, Options options, std::uint64_t seed);
    ~Lingerers();
    Lingerers(Lingerers const&) = delete;
    Lingerers& operator=(Lingerers const&) = delete;

    void begin(loadgen::Url const& url);
    /// All go.
    void pause();
    [[nodiscard]] std::uint64_t came() const noexcept { return came_; }
    /// Bytes that the streams were sent.
    [[nodiscard]] std::uint64_t streamed_bytes() const noexcept { return streamed_bytes_; }

private:
    enum class Kind : std::uint8_t { stream, idle, half };
    struct Visitor {
        Kind kind{};
        int fd{-1};
        loadgen::Moment until{};
        std::string head;  // what it was answered first
    };
    void tick();
    void look(Visitor& visitor, loadgen::Moment now);
    void open(Visitor& visitor, loadgen::Moment now);
    /// False: the connection has ended.
    [[nodiscard]] bool read(Visitor& visitor);
    void judge_end(Visitor const& visitor) const;
    static void close(Visitor& visitor);

    loadgen::Loop& loop_;
    Options options_;
    loadgen::Dice dice_;
    loadgen::Url url_;
    std::vector<Visitor> visitors_;
    std::uint64_t came_{};
    std::uint64_t streamed_bytes_{};
    bool away_{true};
    bool ticks_{};
};

}  // namespace holdfast::soak
