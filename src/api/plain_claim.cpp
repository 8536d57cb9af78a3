// The ordinary claim's body, read in one pass without a tree. What it does not know, or would have
// to refuse, it leaves to ClaimDecoder::decode, which reads the body anew and finds the words.
#include "api/claim_decoder.hpp"

namespace holdfast::api {
namespace {

using Kind = engine::ClaimLine::Kind;

/// Takes a text apart as long as it is as expected. After a false or an empty optional it is of no
/// use any more.
class PlainText {
public:
    explicit PlainText(std::string_view text) noexcept : rest_(text) {}

    [[nodiscard]] bool take(char wanted) noexcept {
        skip_space();
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }
    /// Visible ASCII and spaces, without an escape.
    [[nodiscard]] std::optional<std::string_view> text() noexcept {
        if (!take('"')) return std::nullopt;
        std::size_t end = 0;
        while (end < rest_.size() && is_plain(rest_[end])) ++end;
        if (end == rest_.size() || rest_[end] != '"' || end > JsonLimits::string_bytes_max)
            return std::nullopt;
        std::string_view const text = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return text;
    }
    /// `"name":`
    [[nodiscard]] std::optional<std::string_view> name() noexcept {
        auto const name = text();
        return name && take(':') ? name : std::nullopt;
    }
    /// Within the range, which is of numbers over 0. What is behind the digits is the caller's.
    [[nodiscard]] std::optional<std::uint32_t> number(IntegerRange range) noexcept {
        skip_space();
        std::int64_t number = 0;
        std::size_t digits = 0;
        while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
            number = number * 10 + (rest_[digits++] - '0');
            if (number == 0 || number > range.max) return std::nullopt;
        }
        if (number < range.min || number == 0) return std::nullopt;
        rest_.remove_prefix(digits);
        return static_cast<std::uint32_t>(number);
    }
    [[nodiscard]] std::optional<bool> boolean() noexcept {
        skip_space();
        for (bool const value : {false, true}) {
            std::string_view const word = value ? "true" : "false";
            if (!rest_.starts_with(word)) continue;
            rest_.remove_prefix(word.size());
            return value;
        }
        return std::nullopt;
    }
    [[nodiscard]] bool ends() noexcept {
        skip_space();
        return rest_.empty();
    }

private:
    static bool is_plain(char c) noexcept { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }
    void skip_space() noexcept {
        auto const is_space = [](char c) {
            return c == ' ' || c == '\t' || c == '\n' || c == '\r';
        };
        while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    }
    std::string_view rest_;
};

struct PlainSection {
    std::string_view name;
    std::uint32_t quantity{};
};

/// `…,"section":"GA","quantity":2` in either order, up to the brace; its first name is read.
bool read_section(PlainText& text, std::string_view name, IntegerRange range, PlainSection& out) {
    for (int members = 0; members < 2; ++members) {
        if (members == 1) {
            auto const next = text.take(',') ? text.name() : std::nullopt;
            if (!next || *next == name) return false;
            name = *next;
        }
        if (name == "section") {
            auto const section = text.text();
            if (!section) return false;
            out.name = *section;
        } else if (name == "quantity") {
            auto const quantity = text.number(range);
            if (!quantity) return false;
            out.quantity = *quantity;
        } else {
            return false;
        }
    }
    return true;
}

/// `{"quantity":2,"together":true}`, the second one if at all.
bool read_best(PlainText& text, IntegerRange range, engine::BestWish& wish) {
    if (!text.take('{')) return false;
    bool together = false;
    do {
        auto const name = text.name();
        if (!name) return false;
        if (*name == "quantity" && wish.quantity == 0) {
            auto const quantity = text.number(range);
            if (!quantity) return false;
            wish.quantity = *quantity;
        } else if (*name == "together" && !together) {
            auto const value = text.boolean();
            if (!value) return false;
            wish.together = *value;
            together = true;
        } else {
            return false;
        }
    } while (text.take(','));
    return wish.quantity != 0 && text.take('}');
}

/// `["A-1","A-2"]`, up to `most` seats that exist.
bool read_seats(PlainText& text, std::size_t most, Layout const& layout,
                std::vector<SeatIndex>& seats) {
    if (!text.take('[')) return false;
    do {
        auto const name = text.text();
        auto const seat = name ? layout.find_seat(*name) : std::nullopt;
        if (!seat || seats.size() == most) return false;
        seats.push_back(*seat);
    } while (text.take(','));
    return text.take(']');
}

}  // namespace

bool ClaimDecoder::decode_plain(std::string_view body, EventSpec const& spec) {
    start(spec, ClaimBody::claim);
    PlainText text(body);
    auto const name = text.take('{') ? text.name() : std::nullopt;
    if (!name) return false;
    engine::ClaimLine& line = new_line(Kind::seats);
    if (*name == "seats") {
        auto const most = static_cast<std::size_t>(order_range().max);
        if (!read_seats(text, most, spec.layout, line.seats)) return false;
    } else if (*name == "best") {
        line.kind = Kind::best;
        if (!read_best(text, order_range(), line.best)) return false;
        turn_general(line);
    } else {
        PlainSection wish;
        if (!read_section(text, *name, order_range(), wish)) return false;
        auto const section = spec.layout.find_section(wish.name);
        if (!section) return false;
        ask_section(line, *section, wish.quantity);
    }
    if (!text.take('}') || !text.ends()) return false;
    return line.kind != Kind::seats || (!find_duplicates() && !find_broken_group());
}

}  // namespace holdfast::api
