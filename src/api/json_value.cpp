#include "api/json_reader.hpp"

#include <algorithm>

namespace holdfast::api {
namespace {

constexpr std::size_t pointer_key_bytes_max = 64;

/// At most 64 bytes of a key, cut between characters and escaped as RFC 6901 wants it.
void append_pointer_part(std::string& out, std::string_view key) {
    std::size_t length = std::min(key.size(), pointer_key_bytes_max);
    auto const continues = [&key](std::size_t at) {
        return (static_cast<unsigned char>(key[at]) & 0xC0U) == 0x80U;
    };
    if (length < key.size()) {
        while (length > 0 && continues(length)) --length;
    }
    out += '/';
    for (char const c : key.substr(0, length)) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out += c;
        }
    }
}

}  // namespace

JsonKind JsonValue::kind() const noexcept {
    return reader_->nodes_[index_].kind;
}
bool JsonValue::boolean() const noexcept {
    return reader_->nodes_[index_].number != 0;
}
std::int64_t JsonValue::integer() const noexcept {
    return reader_->nodes_[index_].number;
}
std::string_view JsonValue::text() const noexcept {
    return reader_->view(reader_->nodes_[index_].text);
}
std::uint32_t JsonValue::size() const noexcept {
    return reader_->nodes_[index_].size;
}
std::string_view JsonValue::key() const noexcept {
    return reader_->view(reader_->nodes_[index_].key);
}

JsonValue::Iterator JsonValue::begin() const noexcept {
    return Iterator(JsonValue(*reader_, index_ + 1));
}
JsonValue::Iterator JsonValue::end() const noexcept {
    return Iterator(JsonValue(*reader_, reader_->nodes_[index_].end));
}
JsonValue::Iterator& JsonValue::Iterator::operator++() noexcept {
    value_.index_ = value_.reader_->nodes_[value_.index_].end;
    return *this;
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const noexcept {
    for (JsonValue const member : *this) {
        if (member.key() == key) return member;
    }
    return std::nullopt;
}

std::string JsonValue::pointer() const {
    std::string out;
    JsonValue at(*reader_, 0);
    while (at.index_ != index_) {
        bool const in_array = at.is(JsonKind::array);
        std::uint32_t ordinal = 0;
        for (JsonValue const member : at) {
            if (index_ < reader_->nodes_[member.index_].end) {
                if (in_array) {
                    out.append("/").append(std::to_string(ordinal));
                } else {
                    append_pointer_part(out, member.key());
                }
                at = member;
                break;
            }
            ++ordinal;
        }
    }
    return out;
}

}  // namespace holdfast::api
