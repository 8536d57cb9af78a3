// Layout: the places of one event, their names, prices and geometry. Immutable once built.
//
// Purpose: what an organizer drew. Labelled seats have dense SeatIndex in section, row and array
//   order; the places of general-admission sections follow them, section by section, without names.
// Thread safety: built by one thread; const afterwards, any thread may read.
// Invariants: seat names are unique; rows of a section and seats of a row are contiguous; every
//   seat has a category; place_count() <= limits::places_per_event_max.
// Cost: about 40 bytes a labelled seat (position, category, name); general places cost nothing.
#pragma once

#include <holdfast/base/result.hpp>
#include <holdfast/domain/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

/// Absolute drawing units of the plan, x to the right, y down; section offsets are added already.
struct Point {
    double x{};
    double y{};
    friend bool operator==(Point const&, Point const&) = default;
};

struct Category {
    std::string key;       // unique in the event; what a request names
    std::string name;      // what people read; matched in any letter case
    std::int64_t price{};  // minor units of the event's currency, 0 ... limits::price_max
};

struct Zone {  // a group of sections (seats.io)
    std::string key;
    std::string name;
    std::optional<Point> focal;
};

enum class SeatFlag : std::uint8_t {
    none = 0,
    accessible = 1,
    companion = 2,
    restricted_view = 4,
    aisle_before = 8,  // not a neighbour of the seat before it in the row
    not_for_sale = 16,
    joined = 32,  // inseparable from the seat before it in the row: a sofa, a table sold whole
};
inline constexpr std::uint8_t seat_flags_known = 63;
[[nodiscard]] constexpr bool has(std::uint8_t flags, SeatFlag flag) noexcept {
    return (flags & static_cast<std::uint8_t>(flag)) != 0;
}

struct Seat {
    Point at;
    CategoryIndex category{};
    std::uint8_t flags{};  // SeatFlag bits
};

/// Seats of one row, one behind the other, that can only be claimed all together: a maximal chain
/// of joined ones. Of one seat: it stands for itself.
struct SeatGroup {
    SeatIndex first{};
    std::uint32_t count{};
    friend bool operator==(SeatGroup const&, SeatGroup const&) = default;
};

struct Row {
    std::string label;
    SectionIndex section{};
    SeatIndex first{};
    std::uint32_t count{};
};

struct Section {
    std::string id;  // unique; what a request names
    std::string name;
    CategoryIndex category{};           // of general places; default of its rows
    std::optional<std::uint32_t> zone;  // index into zones()
    std::optional<Point> focal;
    bool general{};  // general admission: places without names
    RowIndex first_row{};
    std::uint32_t row_count{};
    SeatIndex first{};         // of its labelled seats or general places
    std::uint32_t capacity{};  // places in all
};

/// What a builder could not accept.
struct LayoutError {
    enum class Kind : std::uint8_t {
        duplicate_section,
        duplicate_category,
        duplicate_seat,
        name_too_long,
        empty,  // no places at all, a section or row without places, or a thing without a name
        too_many_places,
        too_many_sections,
        too_many_rows,
        too_many_categories,
        unknown_category,
        price_out_of_range,
    };
    Kind kind{};
    std::vector<std::string> names;  // the offenders, at most 1,000 of them
};

[[noreturn]] void throw_exception_from_error(LayoutError const&, boost::source_location const&);

class Layout {
public:
    [[nodiscard]] std::span<Category const> categories() const noexcept { return categories_; }
    [[nodiscard]] std::span<Zone const> zones() const noexcept { return zones_; }
    [[nodiscard]] std::span<Section const> sections() const noexcept { return sections_; }
    [[nodiscard]] std::span<Row const> rows() const noexcept { return rows_; }
    [[nodiscard]] std::span<Seat const> seats() const noexcept { return seats_; }
    [[nodiscard]] std::optional<Point> focal() const noexcept { return focal_; }
    [[nodiscard]] std::uint32_t labelled_count() const noexcept {
        return static_cast<std::uint32_t>(seats_.size());
    }
    /// Labelled seats and general places together: the capacity of the event.
    [[nodiscard]] std::uint32_t place_count() const noexcept { return place_count_; }

    /// `section-row-seat` or the plan's own id; empty for a general place.
    [[nodiscard]] std::string_view name_of(SeatIndex seat) const noexcept;
    /// The last part alone, as printed on the chair; empty for a general place.
    [[nodiscard]] std::string_view label_of(SeatIndex seat) const noexcept;
    [[nodiscard]] SectionIndex section_of(SeatIndex seat) const noexcept;  // O(log sections)
    [[nodiscard]] CategoryIndex category_of(SeatIndex seat) const noexcept;
    [[nodiscard]] std::int64_t price_of(SeatIndex seat) const noexcept;
    /// O(1); names are compared whole, byte by byte.
    [[nodiscard]] std::optional<SeatIndex> find_seat(std::string_view name) const noexcept;
    [[nodiscard]] std::optional<SectionIndex> find_section(std::string_view id) const noexcept;
    /// By key, else by name in any letter case (ASCII).
    [[nodiscard]] std::optional<CategoryIndex> find_category(std::string_view key) const noexcept;
    /// Seats of the largest group; 1 if there are none, 0 without labelled seats.
    [[nodiscard]] std::uint32_t largest_group() const noexcept { return largest_group_; }
    /// Of a labelled seat. O(seats of the group).
    [[nodiscard]] SeatGroup group_of(SeatIndex seat) const noexcept;
    /// The first group of which the ascending list holds a part and not all. O(1) without groups.
    [[nodiscard]] std::optional<SeatGroup> broken_group(
        std::span<SeatIndex const> seats) const noexcept;
    /// Memory held, for metrics and tests.
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

private:
    friend class LayoutBuilder;
    [[nodiscard]] std::size_t table_place(std::string_view name) const noexcept;

    std::vector<Category> categories_;
    std::vector<Zone> zones_;
    std::vector<Section> sections_;
    std::vector<Row> rows_;
    std::vector<Seat> seats_;
    // All names, one after another. A label that is no tail of its name follows the name.
    std::string names_;
    std::vector<std::uint32_t> name_starts_;  // labelled_count() + 1
    std::vector<std::uint8_t> name_lengths_;
    std::vector<std::uint8_t> label_lengths_;   // the label ends where the next name starts
    std::vector<std::uint32_t> name_table_;     // open addressing, SeatIndex + 1, 0 = empty
    std::vector<std::uint32_t> section_order_;  // indexes of sections_ in order of their ids
    std::optional<Point> focal_;
    std::uint32_t place_count_{};
    std::uint32_t largest_group_{};
};

/// Collects a layout in order: categories and zones, then each section with its rows and seats.
class LayoutBuilder {
public:
    CategoryIndex add_category(Category category);
    std::uint32_t add_zone(Zone zone);
    void set_focal(Point focal);
    /// Starts a section with rows. `first`, `capacity` and the row fields are filled in by build().
    void add_section(Section section);
    void add_row(std::string label);
    /// `name` is the seat's whole unique name, `label` what is printed on the chair. The first seat
    /// of a row is joined to none.
    struct NewSeat {
        std::string_view name;
        std::string_view label;
        Seat seat;
    };
    void add_seat(NewSeat const& seat);
    /// A general-admission section of section.capacity places; it comes after all those with rows,
    /// also in sections().
    void add_general(Section section);
    /// The finished layout, or everything of the first kind that is wrong with it.
    [[nodiscard]] ResultOf<Layout, LayoutError> build() &&;

private:
    void note(LayoutError::Kind kind, std::string_view name);
    void check_text(std::string_view text, bool may_be_empty);
    void check_section(Section const& section);
    void check_groups();
    void check_ids();
    void place_general();
    void fill_name_table();
    void measure_groups();

    Layout layout_;
    std::vector<Section> general_;
    std::uint64_t seats_added_{};
    std::uint64_t rows_added_{};
    std::uint64_t sections_added_{};
    std::vector<LayoutError> errors_;  // one for each kind met, in order of meeting
};

}  // namespace holdfast
