// The catalogue's two verbs: insert an event with all it has, load every event.
#include "store/store_state.hpp"

#include <holdfast/base/assert.hpp>
#include <holdfast/domain/layout_codec.hpp>

#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <sqlite3.h>
#include <string_view>
#include <utility>

namespace holdfast::store {
namespace {

constexpr std::string_view insert_event_sql =
    "INSERT INTO events (slug, name, venue, time_zone, starts_at_ms, starts_offset_min, "
    "opens_at_ms, opens_offset_min, closes_at_ms, closes_offset_min, currency, publish, "
    "hold_ttl_ms, hold_max_life_ms, max_extensions, max_per_order, max_per_user, orphan_rule, "
    "guest, honour_open_holds, payment_none, payment_wallet, payment_external, created_at_ms, "
    "layout, orphan_endgame_pct, max_open_holds_per_user, hold_seconds_budget, "
    "rehold_cooldown_s, made_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
    "?, ?, ?, ?, "
    "?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (slug) DO NOTHING";

constexpr std::string_view load_events_sql =
    "SELECT id, slug, name, venue, time_zone, starts_at_ms, starts_offset_min, opens_at_ms, "
    "opens_offset_min, closes_at_ms, closes_offset_min, currency, publish, hold_ttl_ms, "
    "hold_max_life_ms, max_extensions, max_per_order, max_per_user, orphan_rule, guest, "
    "honour_open_holds, payment_none, payment_wallet, payment_external, created_at_ms, layout, "
    "orphan_endgame_pct, max_open_holds_per_user, hold_seconds_budget, rehold_cooldown_s, "
    "made_by FROM events ORDER BY id";

void put(Statement& statement, std::optional<ZonedTime> const& time) {
    std::optional<std::int64_t> at;
    std::optional<std::int64_t> offset;
    if (time) {
        at = time->at.time_since_epoch().count();
        offset = time->offset_minutes;
    }
    statement.put(at).put(offset);
}

[[nodiscard]] std::optional<std::int64_t> optional(std::optional<std::uint32_t> count) {
    return count ? std::optional<std::int64_t>{*count} : std::nullopt;
}

void put(Statement& statement, EventPolicy const& policy) {
    statement.put(std::int64_t{policy.hold_ttl.count()})
        .put(std::int64_t{policy.hold_max_life.count()})
        .put(std::int64_t{policy.max_extensions})
        .put(std::int64_t{policy.max_per_order})
        .put(optional(policy.max_per_user))
        .put(to_string(policy.orphan_rule))
        .put(std::int64_t{policy.guest})
        .put(std::int64_t{policy.honour_open_holds})
        .put(std::int64_t{policy.payment_methods.none})
        .put(std::int64_t{policy.payment_methods.wallet})
        .put(std::int64_t{policy.payment_methods.external});
}

[[nodiscard]] StoreResult<void> insert_row(Database& database, EventSpec const& spec) {
    std::vector<std::byte> const layout = encode_layout(spec.layout);
    Statement insert{database, insert_event_sql};
    insert.put(spec.slug).put(spec.name).put(spec.venue).put(spec.time_zone);
    put(insert, spec.starts_at);
    put(insert, spec.opens_at);
    put(insert, spec.closes_at);
    insert.put(spec.currency).put(std::int64_t{spec.publish});
    put(insert, spec.policy);
    insert.put(std::int64_t{spec.created_at.time_since_epoch().count()})
        .put(std::span<std::byte const>{layout})
        .put(std::int64_t{spec.policy.orphan_endgame_pct})
        .put(optional(spec.policy.max_open_holds_per_user))
        .put(optional(spec.policy.hold_seconds_budget))
        .put(std::int64_t{spec.policy.rehold_cooldown.count()});
    if (spec.made_by)
        insert.put(std::as_bytes(std::span(*spec.made_by)));
    else
        insert.put(std::optional<std::int64_t>{});
    return insert.run();
}

[[nodiscard]] StoreResult<void> insert_parts(Database& database, std::int64_t event,
                                             Layout const& layout) {
    Statement category{database,
                       "INSERT INTO categories (event, number, key, name, price) "
                       "VALUES (?, ?, ?, ?, ?)"};
    std::int64_t number = 0;
    for (Category const& made : layout.categories()) {
        category.put(event).put(number++).put(made.key).put(made.name).put(made.price);
        if (auto const done = category.run(); !done) return done;
    }
    Statement section{database,
                      "INSERT INTO sections (event, number, id, name, general, capacity, category) "
                      "VALUES (?, ?, ?, ?, ?, ?, ?)"};
    number = 0;
    for (Section const& made : layout.sections()) {
        section.put(event).put(number++).put(made.id).put(made.name);
        section.put(std::int64_t{made.general})
            .put(std::int64_t{made.capacity})
            .put(std::int64_t{made.category.value()});
        if (auto const done = section.run(); !done) return done;
    }
    return {};
}

/// The event of that name if the very request that asks now has made it, and was told otherwise.
[[nodiscard]] StoreResult<std::optional<EventId>> made_before(Database& database,
                                                              EventSpec const& spec) {
    if (!spec.made_by) return std::optional<EventId>{};
    Statement find{database, "SELECT id FROM events WHERE slug = ? AND made_by = ?"};
    find.put(spec.slug).put(std::as_bytes(std::span(*spec.made_by)));
    auto const row = find.next();
    if (!row) return row.error();
    if (!*row) return std::optional<EventId>{};
    return std::optional{EventId{static_cast<std::uint32_t>(find.integer(0))}};
}

[[nodiscard]] StoreResult<std::optional<EventId>> insert(Database& database,
                                                         EventSpec const& spec) {
    Transaction transaction{database};
    if (auto const begun = transaction.begin_write(); !begun) return begun.error();
    if (auto const done = insert_row(database, spec); !done) return done.error();
    if (database.changes() == 0) return made_before(database, spec);
    std::int64_t const id = database.last_row_id();
    if (auto const done = insert_parts(database, id, spec.layout); !done) return done.error();
    if (auto const done = transaction.commit(); !done) return done.error();
    return std::optional{EventId{static_cast<std::uint32_t>(id)}};
}

/// Reads a row's columns one after another; remembers whether all could be.
class RowReader {
public:
    explicit RowReader(Statement const& row) noexcept : row_(&row) {}
    [[nodiscard]] std::string text() { return std::string{row_->text(column_++)}; }
    [[nodiscard]] std::int64_t integer() noexcept { return row_->integer(column_++); }
    [[nodiscard]] bool flag() noexcept { return integer() != 0; }
    [[nodiscard]] std::uint32_t count() noexcept {
        std::int64_t const value = integer();
        require(value >= 0);
        require(value <= std::numeric_limits<std::uint32_t>::max());
        return static_cast<std::uint32_t>(value);
    }
    [[nodiscard]] std::optional<std::uint32_t> optional_count() noexcept {
        if (!row_->is_null(column_)) return count();
        ++column_;
        return std::nullopt;
    }
    [[nodiscard]] std::optional<ZonedTime> zoned_time() noexcept {
        bool const none = row_->is_null(column_);
        std::int64_t const at = integer();
        std::int64_t const offset = integer();
        if (none) return std::nullopt;
        return ZonedTime{TimePoint{Milliseconds{at}}, static_cast<std::int32_t>(offset)};
    }
    [[nodiscard]] OrphanRule orphan_rule() {
        std::string const name = text();
        for (OrphanRule const rule : {OrphanRule::off, OrphanRule::lenient, OrphanRule::strict}) {
            if (name == to_string(rule)) return rule;
        }
        require(false);
        return OrphanRule::off;
    }
    [[nodiscard]] Layout layout() {
        auto decoded = decode_layout(row_->bytes(column_++));
        require(decoded.has_value());
        return decoded ? *std::move(decoded) : Layout{};
    }
    [[nodiscard]] std::optional<std::array<std::uint64_t, 4>> hashes() {
        if (row_->is_null(column_)) {
            ++column_;
            return std::nullopt;
        }
        auto const bytes = row_->bytes(column_++);
        std::array<std::uint64_t, 4> hashes{};
        require(bytes.size() == sizeof hashes);
        if (bytes.size() == sizeof hashes) std::memcpy(hashes.data(), bytes.data(), sizeof hashes);
        return hashes;
    }
    void require(bool fact) noexcept { good_ = good_ && fact; }
    [[nodiscard]] bool good() const noexcept { return good_; }

private:
    Statement const* row_;
    int column_{};
    bool good_{true};
};

[[nodiscard]] EventPolicy read_policy(RowReader& row) {
    EventPolicy policy;
    policy.hold_ttl = Milliseconds{row.integer()};
    policy.hold_max_life = Milliseconds{row.integer()};
    policy.max_extensions = row.count();
    policy.max_per_order = row.count();
    policy.max_per_user = row.optional_count();
    policy.orphan_rule = row.orphan_rule();
    policy.guest = row.flag();
    policy.honour_open_holds = row.flag();
    policy.payment_methods.none = row.flag();
    policy.payment_methods.wallet = row.flag();
    policy.payment_methods.external = row.flag();
    return policy;
}

[[nodiscard]] StoreResult<EventSpec> read_event(Statement const& statement) {
    RowReader row{statement};
    EventSpec spec;
    spec.id = EventId{row.count()};
    spec.slug = row.text();
    row.require(is_slug(spec.slug));
    spec.name = row.text();
    spec.venue = row.text();
    spec.time_zone = row.text();
    spec.starts_at = row.zoned_time();
    spec.opens_at = row.zoned_time();
    spec.closes_at = row.zoned_time();
    spec.currency = row.text();
    spec.publish = row.flag();
    spec.policy = read_policy(row);
    spec.created_at = TimePoint{Milliseconds{row.integer()}};
    spec.layout = row.layout();
    spec.policy.orphan_endgame_pct = row.count();
    spec.policy.max_open_holds_per_user = row.optional_count();
    spec.policy.hold_seconds_budget = row.optional_count();
    spec.policy.rehold_cooldown = std::chrono::seconds{row.count()};
    spec.made_by = row.hashes();
    if (row.good()) return spec;
    return StoreError{SQLITE_CORRUPT, "event " + std::to_string(spec.id.value()) + " (" +
                                          spec.slug + ") is damaged in the catalogue"};
}

[[nodiscard]] StoreResult<std::vector<EventSpec>> load(Database& database) {
    std::vector<EventSpec> events;
    Statement statement{database, load_events_sql};
    for (;;) {
        auto const row = statement.next();
        if (!row) return row.error();
        if (!*row) return events;
        auto spec = read_event(statement);
        if (!spec) return spec.error();
        events.push_back(*std::move(spec));
    }
}

}  // namespace

StoreResult<void> has_events(Database& database, std::set<EventId> const& events) {
    std::set<EventId> found;
    Statement statement{database, "SELECT id FROM events"};
    for (;;) {
        auto const row = statement.next();
        if (!row) return row.error();
        if (!*row) break;
        found.insert(EventId{static_cast<std::uint32_t>(statement.integer(0))});
    }
    for (EventId const event : events) {
        if (found.contains(event)) continue;
        return StoreError{SQLITE_MISMATCH, "the file has no event " +
                                               std::to_string(event.value()) +
                                               ", which is on sale: is it an older copy?"};
    }
    return {};
}

StoreResult<std::optional<EventId>> Store::insert_event(EventSpec const& spec) {
    if (auto const closed = state_->closed()) return *closed;
    Database& database = *state_->database;
    HOLDFAST_ASSERT(!database.in_transaction());
    HOLDFAST_ASSERT(is_slug(spec.slug));
    // FULL: the event must be on disk before the journal can name it.
    if (auto const full = database.run("PRAGMA synchronous = FULL"); !full) {
        return state_->fail(full.error());
    }
    // Made before the event is there: nobody must be told otherwise for want of memory.
    std::set<EventId> place{EventId{}};
    auto const id = insert(database, spec);
    if (!id) {
        StoreError const error = state_->fail(id.error());
        if (!state_->database) return error;
    }
    bool const there = id && *id;
    if (there) {
        auto node = place.extract(place.begin());
        node.value() = **id;
        state_->events.insert(std::move(node));
    }
    if (auto const normal = database.run("PRAGMA synchronous = NORMAL"); !normal) {
        StoreError const error = state_->fail(normal.error());
        // The store has a trouble, but the event is in it: who is told otherwise makes it again.
        if (!there) return error;
    }
    return id;
}

StoreResult<std::vector<EventSpec>> Store::load_events() {
    if (auto const closed = state_->closed()) return *closed;
    auto events = load(*state_->database);
    if (!events) return state_->fail(events.error());
    for (EventSpec const& spec : *events) state_->events.insert(spec.id);
    return events;
}

}  // namespace holdfast::store
