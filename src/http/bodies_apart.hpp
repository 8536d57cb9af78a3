// BodiesApart: large bodies of a session's replies, which leave from where they lie.
//
// Purpose: the map of a large event has megabytes. Whoever asks for it and does not read, or reads
//   slowly, must not cost a copy of it for as long as that takes.
// Thread safety: its io thread. Invariants: each body leaves whole, between the text before it in
//   the output and the text behind. Cost: of an output without one a look.
#pragma once

#include <holdfast/base/assert.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::http {

class BodiesApart {
public:
    /// `bytes` leave when `at` bytes of the text have; `owner` keeps them, if somebody must.
    void add(std::size_t at, std::string_view bytes, std::shared_ptr<std::string const> owner) {
        HOLDFAST_ASSERT(!bytes.empty());
        bodies_.push_back({at, bytes, std::move(owner)});
        bytes_ += bytes.size();
    }
    /// What is to be sent next, of an output whose text is `text` and has left up to `text_at`.
    [[nodiscard]] std::string_view next(std::string_view text, std::size_t text_at) const noexcept {
        if (bodies_.empty()) return text.substr(text_at);
        Body const& first = bodies_.front();
        if (text_at < first.at) return text.substr(text_at, first.at - text_at);
        return first.bytes.substr(first_at_);
    }
    /// So many bytes of next() have left. How many of them were text.
    [[nodiscard]] std::size_t leave(std::size_t bytes, std::size_t text_at) noexcept {
        if (bodies_.empty() || text_at < bodies_.front().at) return bytes;
        first_at_ += bytes;
        if (first_at_ == bodies_.front().bytes.size()) {
            bodies_.erase(bodies_.begin());
            first_at_ = 0;
        }
        return 0;
    }
    /// Nothing behind `at` bytes of the text leaves.
    void cut(std::size_t at) noexcept {
        while (!bodies_.empty() && bodies_.back().at > at) bodies_.pop_back();
    }
    void clear() noexcept {
        bodies_.clear();
        first_at_ = bytes_ = 0;
    }
    [[nodiscard]] bool empty() const noexcept { return bodies_.empty(); }
    /// Of all that were added since the last clear().
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    struct Body {
        std::size_t at{};
        std::string_view bytes;
        std::shared_ptr<std::string const> owner;
    };
    std::vector<Body> bodies_;
    std::size_t first_at_{};  // of the first: left up to here
    std::size_t bytes_{};
};

}  // namespace holdfast::http
