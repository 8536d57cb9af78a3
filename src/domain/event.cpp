#include <holdfast/domain/event.hpp>

#include <algorithm>

namespace holdfast {
namespace {

bool is_slug_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

}  // namespace

std::string_view to_string(EventState state) noexcept {
    switch (state) {
        case EventState::draft:
            return "draft";
        case EventState::preparing:
            return "preparing";
        case EventState::scheduled:
            return "scheduled";
        case EventState::open:
            return "open";
        case EventState::paused:
            return "paused";
        case EventState::closed:
            return "closed";
        case EventState::cancelled:
            return "cancelled";
    }
    return "unknown";
}

std::string_view to_string(OrphanRule rule) noexcept {
    switch (rule) {
        case OrphanRule::off:
            return "off";
        case OrphanRule::lenient:
            return "lenient";
        case OrphanRule::strict:
            return "strict";
    }
    return "unknown";
}

bool is_slug(std::string_view text) noexcept {
    return !text.empty() && text.size() <= limits::slug_bytes_max && text.front() != '-' &&
           std::ranges::all_of(text, is_slug_character);
}

}  // namespace holdfast
