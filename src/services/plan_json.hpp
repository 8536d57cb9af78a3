// PlanDocument and PlanValue: a vendor's JSON as a tree that knows where it is.
//
// Purpose: keeps Boost.JSON in one file and gives the importers bounded, typed reading.
// Thread safety: one thread. Invariants: depth at most 32, all numbers finite, no repeated keys, at
// most plan_values_max values; else there is no document. A value points to the one it was found
// in, which must live as long (so nothing can be found in a temporary).
// Cost: one pass, about 16 bytes a value and 32 a key in one arena.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace boost::json {
class value;
}

namespace holdfast::services {

class LintLog;

inline constexpr std::size_t plan_values_max = 1'000'000;
inline constexpr std::size_t plan_depth_max = 32;

enum class PlanKind : unsigned char { null, boolean, number, string, array, object };

class PlanValue {
public:
    explicit PlanValue(boost::json::value const& value) noexcept : value_(&value) {}

    [[nodiscard]] PlanKind kind() const noexcept;
    [[nodiscard]] bool is(PlanKind wanted) const noexcept { return kind() == wanted; }
    [[nodiscard]] std::string_view text() const noexcept;                // of a string, else empty
    [[nodiscard]] double number() const noexcept;                        // of a number, else 0
    [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;  // 3 and 3.0, not 3.5
    [[nodiscard]] bool boolean() const noexcept;                         // of a boolean, else false
    [[nodiscard]] std::size_t size() const noexcept;                     // of an array or object
    /// JSON pointer (RFC 6901) from the root of the plan.
    [[nodiscard]] std::string pointer() const;

    /// Element of an array.
    [[nodiscard]] PlanValue at(std::size_t index) const& noexcept;
    PlanValue at(std::size_t index) const&& = delete;
    /// Member of an object; nothing if it is missing or null, or if this is no object.
    [[nodiscard]] std::optional<PlanValue> find(std::string_view key) const& noexcept;
    std::optional<PlanValue> find(std::string_view key) const&& = delete;
    /// Key of the n-th member of an object.
    [[nodiscard]] std::string_view key_at(std::size_t index) const noexcept;

private:
    PlanValue(boost::json::value const& value, PlanValue const& parent, std::string_view key,
              std::size_t index) noexcept
        : value_(&value), parent_(&parent), key_(key), index_(index) {}

    boost::json::value const* value_;
    PlanValue const* parent_{};
    std::string_view key_;  // in an object; data() is null in an array
    std::size_t index_{};
};

class PlanDocument {
public:
    /// Nothing, and an error in the log, if the text is no acceptable JSON.
    [[nodiscard]] static std::optional<PlanDocument> parse(std::string_view text, LintLog& lint);
    PlanDocument(PlanDocument&&) noexcept;
    PlanDocument& operator=(PlanDocument&&) noexcept;
    ~PlanDocument();
    [[nodiscard]] PlanValue root() const noexcept;

private:
    explicit PlanDocument(std::unique_ptr<boost::json::value> value) noexcept;
    std::unique_ptr<boost::json::value> value_;
};

/// Appends `/key`, escaped.
void append_pointer(std::string& pointer, std::string_view key);

}  // namespace holdfast::services
