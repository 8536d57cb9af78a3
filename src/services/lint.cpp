#include "services/lint.hpp"

namespace holdfast::services {
namespace {

constexpr std::size_t items_max = 1'000;
constexpr std::size_t text_bytes_max = 200;

/// The first bytes of `text`, never half a UTF-8 character.
std::string shortened(std::string_view text) {
    if (text.size() <= text_bytes_max) return std::string{text};
    auto length = text_bytes_max;
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
    return std::string{text.substr(0, length)} + "…";
}

void keep(std::vector<LintItem>& items, std::string_view code, std::string_view where,
          std::string_view detail) {
    if (items.size() >= items_max) return;
    items.push_back({std::string{code}, shortened(where), shortened(detail)});
}

std::string joined(std::string_view kind, std::string_view key) {
    return std::string{kind} + '/' + shortened(key);
}

}  // namespace

void LintLog::error(std::string_view code, std::string_view where, std::string_view detail) {
    ++report_.error_count;
    if (code == "repeated-seat-id" || code == "repeated-section-id") ++report_.repeat_count;
    keep(report_.errors, code, where, detail);
}

void LintLog::warning(std::string_view code, std::string_view where, std::string_view detail) {
    ++report_.warning_count;
    keep(report_.warnings, code, where, detail);
}

void LintLog::unknown_key(std::string_view kind, std::string_view key, std::string const& pointer) {
    if (unknown_.size() < items_max && !unknown_.insert(joined(kind, key)).second) return;
    warning("unknown-key", pointer,
            "the key \"" + shortened(key) + "\" of a " + std::string{kind} +
                " is not known and was ignored, here and wherever else it stands");
}

bool LintLog::knows_unknown(std::string_view kind, std::string_view key) const {
    return unknown_.contains(joined(kind, key));
}

}  // namespace holdfast::services
