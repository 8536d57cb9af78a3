#include "services/plan_json.hpp"

#include "services/lint.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_stack.hpp>
#include <cmath>
#include <vector>

namespace holdfast::services {
namespace {

namespace json = boost::json;
using Ec = json::error_code;

/// Feeds the tree builder and refuses what the tree could not show: a repeated key (the tree keeps
/// the last one silently) and numbers too large for a double (they would become infinite).
class Builder {
public:
    static constexpr std::size_t max_object_size = plan_values_max;
    static constexpr std::size_t max_array_size = plan_values_max;
    static constexpr std::size_t max_key_size = 1'024;
    static constexpr std::size_t max_string_size = json::string::max_size();

    explicit Builder(LintLog& lint) : stack_(json::storage_ptr{}, nullptr, 0), lint_(lint) {
        stack_.reset(json::make_shared_resource<json::monotonic_resource>());
    }
    [[nodiscard]] json::value take() { return stack_.release(); }
    [[nodiscard]] bool explained() const noexcept { return explained_; }

    bool on_document_begin(Ec&) { return true; }
    bool on_document_end(Ec&) { return true; }
    bool on_object_begin(Ec&) {
        levels_.push_back({false, keys_used_, 0});
        return true;
    }
    bool on_object_end(std::size_t members, Ec& ec) {
        if (!keys_are_unique(ec)) return false;
        keys_used_ = levels_.back().first_key;
        levels_.pop_back();
        stack_.push_object(members);
        return counted(ec);
    }
    bool on_array_begin(Ec&) {
        levels_.push_back({true, keys_used_, 0});
        return true;
    }
    bool on_array_end(std::size_t elements, Ec& ec) {
        levels_.pop_back();
        stack_.push_array(elements);
        return counted(ec);
    }
    bool on_key_part(json::string_view part, std::size_t, Ec&) {
        key_.append(part.data(), part.size());
        stack_.push_chars(part);
        return true;
    }
    bool on_key(json::string_view part, std::size_t, Ec& ec) {
        key_.append(part.data(), part.size());
        stack_.push_key(part);
        if (keys_used_ == keys_.size()) keys_.emplace_back();
        std::swap(keys_[keys_used_++], key_);
        key_.clear();
        return counted_key(ec);
    }
    bool on_string_part(json::string_view part, std::size_t, Ec&) {
        stack_.push_chars(part);
        return true;
    }
    bool on_string(json::string_view part, std::size_t, Ec& ec) {
        stack_.push_string(part);
        return counted(ec);
    }
    bool on_number_part(json::string_view, Ec&) { return true; }
    bool on_int64(std::int64_t number, json::string_view, Ec& ec) {
        stack_.push_int64(number);
        return counted(ec);
    }
    bool on_uint64(std::uint64_t number, json::string_view, Ec& ec) {
        stack_.push_uint64(number);
        return counted(ec);
    }
    bool on_double(double number, json::string_view, Ec& ec) {
        if (!std::isfinite(number)) {
            return refuse("number-range", pointer(), "the number is too large", ec);
        }
        stack_.push_double(number);
        return counted(ec);
    }
    bool on_bool(bool value, Ec& ec) {
        stack_.push_bool(value);
        return counted(ec);
    }
    bool on_null(Ec& ec) {
        stack_.push_null();
        return counted(ec);
    }
    bool on_comment_part(json::string_view, Ec&) { return true; }
    bool on_comment(json::string_view, Ec&) { return true; }

private:
    struct Level {
        bool array{};
        std::size_t first_key{};  // of its own in keys_
        std::size_t index{};      // of the current element
    };

    bool refuse(std::string_view code, std::string const& where, std::string_view detail, Ec& ec) {
        lint_.error(code, where, detail);
        explained_ = true;
        ec = json::error::syntax;
        return false;
    }
    bool counted_key(Ec& ec) {
        if (++values_ <= plan_values_max) return true;
        return refuse("too-large", "", "the plan has more than 1,000,000 values", ec);
    }
    bool counted(Ec& ec) {
        if (!levels_.empty()) ++levels_.back().index;
        return counted_key(ec);
    }
    bool keys_are_unique(Ec& ec) {
        auto const first = keys_.begin() + static_cast<std::ptrdiff_t>(levels_.back().first_key);
        auto const end = keys_.begin() + static_cast<std::ptrdiff_t>(keys_used_);
        std::sort(first, end);
        auto const repeated = std::adjacent_find(first, end);
        if (repeated == end) return true;
        auto const key = *repeated;
        keys_used_ = levels_.back().first_key;
        levels_.pop_back();
        auto where = pointer();
        append_pointer(where, key);
        return refuse("repeated-key", where, "the key stands twice in one object", ec);
    }
    /// Of the value that is being read.
    [[nodiscard]] std::string pointer() const {
        std::string made;
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            if (levels_[level].array) {
                append_pointer(made, std::to_string(levels_[level].index));
                continue;
            }
            // The newest key of this object: the last before those of the next level.
            auto const end = level + 1 < levels_.size() ? levels_[level + 1].first_key : keys_used_;
            if (end > levels_[level].first_key) append_pointer(made, keys_[end - 1]);
        }
        return made;
    }

    json::value_stack stack_;
    LintLog& lint_;
    std::vector<Level> levels_;
    std::vector<std::string> keys_;  // of all open objects; used ones first, the rest keep memory
    std::size_t keys_used_{};
    std::string key_;
    std::size_t values_{};
    bool explained_{};
};

}  // namespace

void append_pointer(std::string& pointer, std::string_view key) {
    pointer += '/';
    for (char const c : key) {
        if (c == '~') {
            pointer += "~0";
        } else if (c == '/') {
            pointer += "~1";
        } else {
            pointer += c;
        }
    }
}

PlanDocument::PlanDocument(std::unique_ptr<json::value> value) noexcept
    : value_(std::move(value)) {}
PlanDocument::PlanDocument(PlanDocument&&) noexcept = default;
PlanDocument& PlanDocument::operator=(PlanDocument&&) noexcept = default;
PlanDocument::~PlanDocument() = default;

PlanValue PlanDocument::root() const noexcept {
    return PlanValue{*value_};
}

std::optional<PlanDocument> PlanDocument::parse(std::string_view text, LintLog& lint) {
    json::parse_options options;
    options.max_depth = plan_depth_max;
    json::basic_parser<Builder> parser(options, lint);
    Ec ec;
    auto const used = parser.write_some(false, text.data(), text.size(), ec);
    if (!ec && used < text.size()) ec = json::error::extra_data;
    if (!ec) {
        return PlanDocument{std::make_unique<json::value>(parser.handler().take())};
    }
    if (!parser.handler().explained()) {
        auto const code = ec == json::error::too_deep ? "too-deep" : "not-json";
        lint.error(code, "", "byte " + std::to_string(used) + ": " + ec.message());
    }
    return std::nullopt;
}

PlanKind PlanValue::kind() const noexcept {
    switch (value_->kind()) {
        case json::kind::null:
            return PlanKind::null;
        case json::kind::bool_:
            return PlanKind::boolean;
        case json::kind::int64:
        case json::kind::uint64:
        case json::kind::double_:
            return PlanKind::number;
        case json::kind::string:
            return PlanKind::string;
        case json::kind::array:
            return PlanKind::array;
        case json::kind::object:
            return PlanKind::object;
    }
    return PlanKind::null;
}

std::string_view PlanValue::text() const noexcept {
    auto const* const text = value_->if_string();
    return text == nullptr ? std::string_view{} : std::string_view{text->data(), text->size()};
}

double PlanValue::number() const noexcept {
    if (auto const* const number = value_->if_double()) return *number;
    if (auto const* const number = value_->if_int64()) return static_cast<double>(*number);
    if (auto const* const number = value_->if_uint64()) return static_cast<double>(*number);
    return 0;
}

std::optional<std::int64_t> PlanValue::integer() const noexcept {
    if (auto const* const whole = value_->if_int64()) return *whole;
    auto const* const number = value_->if_double();
    constexpr double exact_max = 9'007'199'254'740'992;  // 2^53
    if (number == nullptr || std::abs(*number) > exact_max) return std::nullopt;
    if (std::trunc(*number) != *number) return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

bool PlanValue::boolean() const noexcept {
    auto const* const value = value_->if_bool();
    return value != nullptr && *value;
}

std::size_t PlanValue::size() const noexcept {
    if (auto const* const array = value_->if_array()) return array->size();
    if (auto const* const object = value_->if_object()) return object->size();
    return 0;
}

std::string PlanValue::pointer() const {
    std::vector<PlanValue const*> path;
    for (auto const* value = this; value->parent_ != nullptr; value = value->parent_) {
        path.push_back(value);
    }
    std::string made;
    for (auto step = path.rbegin(); step != path.rend(); ++step) {
        bool const in_array = (*step)->key_.data() == nullptr;
        append_pointer(made, in_array ? std::to_string((*step)->index_) : (*step)->key_);
    }
    return made;
}

PlanValue PlanValue::at(std::size_t index) const& noexcept {
    auto const* const array = value_->if_array();
    HOLDFAST_ASSERT(array != nullptr);
    HOLDFAST_ASSERT(index < array->size());
    return {(*array)[index], *this, {}, index};
}

std::optional<PlanValue> PlanValue::find(std::string_view key) const& noexcept {
    auto const* const object = value_->if_object();
    if (object == nullptr) return std::nullopt;
    auto const* const value = object->if_contains({key.data(), key.size()});
    if (value == nullptr || value->is_null()) return std::nullopt;
    return PlanValue{*value, *this, key, 0};
}

std::string_view PlanValue::key_at(std::size_t index) const noexcept {
    auto const* const object = value_->if_object();
    HOLDFAST_ASSERT(object != nullptr);
    HOLDFAST_ASSERT(index < object->size());
    auto const key = (object->begin() + static_cast<std::ptrdiff_t>(index))->key();
    return {key.data(), key.size()};
}

}  // namespace holdfast::services
