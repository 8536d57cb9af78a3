// StreamClient: what a shop's page does with state documents and streams, and nothing else.
//
// Thread safety: one thread. It knows no engine: what it believes comes from bytes alone.
#pragma once

#include <holdfast/http/stream.hpp>

#include <array>
#include <boost/json.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// One event of a stream, as the format of server-sent events has it.
struct Message {
    std::string type;
    std::string id;
    std::string data;
};

inline std::vector<Message> messages_of(std::string_view text) {
    std::vector<Message> all;
    Message message;
    while (!text.empty()) {
        auto const end = text.find('\n');
        if (end == std::string_view::npos) throw std::runtime_error{"a line without an end"};
        auto const line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (line.empty()) {
            if (!message.data.empty()) all.push_back(std::move(message));
            message = {};
        } else if (line.starts_with("event: ")) {
            message.type = line.substr(7);
        } else if (line.starts_with("id: ")) {
            message.id = line.substr(4);
        } else if (line.starts_with("data: ")) {
            message.data += line.substr(6);
        }
    }
    return all;
}

class StreamClient {
public:
    using Counts = std::array<std::int64_t, 4>;  // free, held, sold, blocked

    explicit StreamClient(std::size_t seats) : seats_(seats) {}

    /// A state document; what came while it was on its way is applied to it.
    void take(std::string_view document) {
        auto const whole = boost::json::parse(document);
        // With a stream its own numbers count: one that came before the document may be applied
        // after it, and takes back what the next ones tell.
        if (!wants_document_) number_ = whole.at("seq").to_number<std::uint64_t>();
        replace(whole);
        wants_document_ = false;
        for (std::string const& data : std::exchange(kept_, {})) apply(data);
    }
    void read(std::string_view text) {
        for (Message const& message : messages_of(text)) {
            number_ = std::stoull(message.id);
            if (message.type == "resync") {
                wants_document_ = true;
                kept_.clear();
                ++resyncs;
            } else if (wants_document_) {
                kept_.push_back(message.data);
            } else {
                apply(message.data);
            }
        }
    }
    /// Reads what there is, at most `pieces`. False: the stream has ended.
    bool read(http::Stream& stream, std::size_t pieces = std::numeric_limits<std::size_t>::max()) {
        for (; pieces > 0; --pieces) {
            auto const piece = stream.next();
            if (piece.bytes == nullptr) return true;
            read(*piece.bytes);
            if (piece.last) return false;
        }
        return true;
    }
    [[nodiscard]] bool wants_document() const { return wants_document_; }
    /// From where a stream is to go on.
    [[nodiscard]] std::optional<std::uint64_t> number() const { return number_; }
    [[nodiscard]] std::vector<unsigned> const& seats() const { return seats_; }
    [[nodiscard]] std::map<std::string, Counts> const& general() const { return general_; }

    std::size_t resyncs{}, deltas{}, wholes{};

private:
    static constexpr std::array<char const*, 4> names_{"free", "held", "sold", "blocked"};

    void apply(std::string const& data) {
        ++deltas;
        auto const delta = boost::json::parse(data);
        if (delta.as_object().contains("seats")) {
            ++wholes;
            return replace(delta);
        }
        for (unsigned state = 0; state < names_.size(); ++state) {
            auto const* const list = delta.as_object().if_contains(names_[state]);
            if (list == nullptr) continue;
            for (auto const& seat : list->as_array())
                seats_.at(seat.to_number<std::size_t>()) = state;
        }
        take_general(delta);
    }
    void replace(boost::json::value const& document) {
        std::string const text(document.at("seats").as_string());
        constexpr std::string_view alphabet =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        std::string bytes;
        std::uint32_t bits = 0;
        unsigned count = 0;
        for (char const letter : text) {
            auto const value = alphabet.find(letter);
            if (value == std::string_view::npos) break;
            bits = bits << 6U | static_cast<std::uint32_t>(value);
            count += 6;
            if (count < 8) continue;
            count -= 8;
            bytes.push_back(static_cast<char>(bits >> count & 0xFFU));
        }
        for (std::size_t seat = 0; seat < seats_.size(); ++seat)
            seats_[seat] = static_cast<unsigned char>(bytes.at(seat / 4)) >> (2 * (seat % 4)) & 3U;
        take_general(document);
    }
    void take_general(boost::json::value const& document) {
        auto const* const sections = document.as_object().if_contains("general");
        if (sections == nullptr) return;
        for (auto const& section : sections->as_array()) {
            Counts& counts = general_[std::string(section.at("section").as_string())];
            for (std::size_t state = 0; state < names_.size(); ++state)
                counts[state] = section.at(names_[state]).to_number<std::int64_t>();
        }
    }

    std::vector<unsigned> seats_;
    std::map<std::string, Counts> general_;
    bool wants_document_{};
    std::optional<std::uint64_t> number_;
    std::vector<std::string> kept_;
};

}  // namespace holdfast::test
