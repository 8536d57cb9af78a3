#include "engine/engine_core.hpp"
#include "engine/hold_view.hpp"
#include "engine/marking.hpp"

#include <holdfast/base/assert.hpp>

#include <algorithm>
#include <chrono>

namespace holdfast::engine {
namespace {

/// Which life steps may follow on the state that everybody sees, so that a sale that is over by its
/// time is as closed as any; cancelled is final, closed is but for cancelling.
bool may_follow(EventState from, LifeStep to) noexcept {
    switch (from) {
        case EventState::draft:
            return to == LifeStep::published || to == LifeStep::cancelled;
        case EventState::preparing:
        case EventState::scheduled:
        case EventState::open:
            return to == LifeStep::paused || to == LifeStep::closed || to == LifeStep::cancelled;
        case EventState::paused:
            return to == LifeStep::published || to == LifeStep::closed || to == LifeStep::cancelled;
        case EventState::closed:
            return to == LifeStep::cancelled;
        case EventState::cancelled:
            return false;
    }
    return false;
}

EventState state_after(LifeStep step) noexcept {
    switch (step) {
        case LifeStep::drafted:
            return EventState::draft;
        case LifeStep::published:
            return EventState::open;
        case LifeStep::paused:
            return EventState::paused;
        case LifeStep::closed:
            return EventState::closed;
        case LifeStep::cancelled:
            return EventState::cancelled;
    }
    return EventState::draft;
}

}  // namespace

std::uint64_t first_generation(TimePoint start) noexcept {
    using namespace std::chrono;
    // A clock far ahead must not use the generations up: these are left for each slot then.
    constexpr std::uint64_t left = std::uint64_t{1} << 36;
    constexpr TimePoint zero = sys_days{January / 1 / 2026};
    if (start <= zero) return 1;
    auto const since = static_cast<std::uint64_t>((start - zero).count());
    return std::min(since, HoldRef::generation_max - left);
}

Engine::Engine(journal::Journal& journal, EngineOptions const& options)
    : core_(std::make_unique<Core>(journal, options)) {}

Engine::~Engine() = default;

LiveEvent* Engine::find(std::string_view slug) const noexcept {
    return core_->registry.find(slug);
}
LiveEvent* Engine::find(EventId event) const noexcept {
    return core_->registry.find(event);
}

std::vector<LiveEvent*> Engine::events() const {
    std::vector<LiveEvent*> events;
    for (Sale* sale : core_->registry.all()) events.push_back(sale);
    return events;
}

namespace {

std::vector<std::byte> first_step_of(EventSpec const& spec) {
    LifeStep const step = spec.publish ? LifeStep::published : LifeStep::drafted;
    return encode(EventFact{spec.id, step, spec.created_at});
}

/// The mark of who made the event. The catalogue keeps it, so it is there again after a start.
std::optional<MarkEntry> mark_of(EventSpec const& spec) {
    if (!spec.made_by) return std::nullopt;
    auto const& [scope_high, scope_low, request_high, request_low] = *spec.made_by;
    EventState const told = spec.publish ? EventState::preparing : EventState::draft;
    return MarkEntry{{{scope_high, scope_low}, {request_high, request_low}},
                     spec.created_at,
                     spec.created_at + limits::mark_life,
                     no_lsn,
                     encode(Answer{StepAnswer{spec.id, told}})};
}

}  // namespace

struct PreparedEvent {
    PreparedEvent(journal::Journal& journal, std::shared_ptr<EventSpec> the_spec)
        : spec(std::move(the_spec)),
          sale(std::make_unique<Sale>(spec)),
          mark(mark_of(*spec)),
          first_step(first_step_of(*spec)),
          space(journal, first_step.size()) {}

    std::shared_ptr<EventSpec> spec;
    std::unique_ptr<Sale> sale;
    std::optional<MarkEntry> mark;
    std::vector<std::byte> first_step;
    Space space;
};

LiveEvent* Engine::add(std::shared_ptr<EventSpec const> spec) {
    auto mark = mark_of(*spec);
    Sale* const sale = core_->registry.add(std::make_unique<Sale>(std::move(spec)));
    if (sale != nullptr && mark) core_->marks.finish(*std::move(mark));
    return sale;
}

Result<std::shared_ptr<PreparedEvent>> Engine::prepare(EventSpec spec) {
    auto prepared = std::make_shared<PreparedEvent>(core_->journal,
                                                    std::make_shared<EventSpec>(std::move(spec)));
    if (!prepared->space.held()) return no_space(core_->journal);
    return prepared;
}

MadeEvent Engine::add(PreparedEvent& prepared, EventId id) noexcept {
    prepared.spec->id = id;
    if (prepared.mark) set_event(prepared.mark->answer, id);
    put_event(prepared.first_step, id);
    MadeEvent made;
    {
        std::lock_guard const lock(core_->steps);  // no other step of it comes before
        made.event = core_->registry.add(std::move(prepared.sale));
        if (made.event == nullptr) return {};
        made.lsn = prepared.space.append(journal::RecordType::event, prepared.first_step);
    }
    if (prepared.mark) {
        prepared.mark->lsn = made.lsn;
        // Its place was taken when the request came, so this needs no memory either.
        core_->marks.finish(*std::move(prepared.mark));
    }
    return made;
}

Result<Lsn> Engine::tell(LiveEvent const& event) {
    auto const first_step = first_step_of(event.spec());
    Space space(core_->journal, first_step.size());
    if (!space.held()) return no_space(core_->journal);
    return space.append(journal::RecordType::event, first_step);
}

void Engine::build(LiveEvent& event, RestoredEvent const& restored) {
    static_cast<Sale&>(event).build(core_->journal, core_->options, restored);
}

void Engine::restore_step(LiveEvent& event, LifeStep step) noexcept {
    static_cast<Sale&>(event).set_life(step);
}

Marks& Engine::marks() noexcept {
    return core_->marks;
}

std::optional<HoldView> Engine::shown(HoldAnswer const& answer) const {
    Sale const* const sale = core_->registry.find(answer.hold.event);
    if (sale == nullptr || !sale->ready()) return std::nullopt;
    inventory::HoldLook look;
    look.word = inventory::HoldWord(1, inventory::State::held, 0);
    look.asked = answer.created_at;
    look.expires_at = answer.expires_at;
    look.holder = answer.holder;
    // A restart gives live holds more time. Who extends one is another holder in its word, so any
    // other deadline is that of a restart.
    auto const now = sale->inventory().holds.look(answer.hold.ref, nullptr);
    bool const same =
        now && now->word.state() == inventory::State::held && now->holder == answer.holder;
    if (same) look.expires_at = now->expires_at;
    return view_of(*sale, answer.hold, look, answer.seats);
}

Result<Lsn> Engine::step(LiveEvent& event, LifeStep step, TimePoint now,
                         std::optional<EventState> only_from, Mark const* mark, EventState* after) {
    auto& sale = static_cast<Sale&>(event);
    std::unique_lock lock(core_->steps);
    EventState const from = sale.state(now);
    if (from != only_from.value_or(from) || !may_follow(from, step)) {
        Refusal refusal = refuse(RefusalCode::illegal_transition);
        refusal.from = static_cast<std::uint8_t>(from);
        refusal.to = static_cast<std::uint8_t>(state_after(step));
        return refusal;
    }
    EventState const to = sale.state_after(step, now);
    Marking marking(*core_, mark, now);
    EventFact const fact{sale.spec().id, step, now, marking.of(StepAnswer{sale.spec().id, to})};
    std::vector<std::byte> const payload = encode(fact);
    if (!core_->journal.reserve(journal::record_header_bytes + payload.size()))
        return no_space(core_->journal);
    sale.set_life(step);
    Lsn const lsn = core_->journal.append(journal::RecordType::event, fact_version, payload);
    lock.unlock();  // the marks have locks of their own
    marking.written(lsn);
    if (after != nullptr) *after = to;
    return lsn;
}

std::size_t Engine::expire(TimePoint now) {
    std::size_t ended = 0;
    core_->registry.for_each([&](Sale& sale) {
        if (!sale.ready()) return;
        SaleInventory& inventory = sale.inventory();
        if (inventory.cool_downs != nullptr) inventory.cool_downs->sweep(now);
        inventory.wheel.advance(
            now,
            [&](SlotIndex slot) -> std::optional<TimePoint> {
                // A crowd with one deadline must not take the journal's room from the claims.
                if (ended >= limits::expired_per_tick_max) return now;
                return inventory.holds.fire(slot, now, now, ended);
            },
            [&](SlotIndex slot) { return inventory.holds.needs_timer(slot); });
    });
    return ended;
}

}  // namespace holdfast::engine
