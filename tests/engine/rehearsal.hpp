// Rehearsal: runs one sequence of commands on an engine and on the sequential model.
//
// Purpose: a command is a few numbers that mean something in any state, so that a sequence stays a
// sequence when parts of it are deleted.
#pragma once

#include "tests/engine/sale_fixture.hpp"
#include "tests/engine/sequential_model.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::engine::test {

struct Command {
    enum class Verb : std::uint8_t {
        seats,
        candidates,
        best,
        general,
        lines,
        release,
        extend,
        confirm,
        confirm_two,
        cancel,
        wait,
        tick,
        restart,
    } verb{};
    std::uint32_t a{}, b{}, c{};
};

class Rehearsal {
public:
    /// What differed first, or nothing.
    [[nodiscard]] static std::string run(std::vector<Command> const& commands) {
        Rehearsal rehearsal;
        for (Command const& command : commands) {
            rehearsal.step(command);
            if (rehearsal.difference_.empty()) rehearsal.compare();
            if (!rehearsal.difference_.empty()) return rehearsal.difference_;
        }
        return {};
    }

private:
    using Life = SequentialModel::Life;
    struct Known {
        HoldName name;
        OrderId order;
        std::size_t places{};
    };
    using Numbers = std::vector<std::uint32_t>;

    static constexpr std::uint32_t labelled = 20, general_places = 10;
    static constexpr std::uint32_t accessible_first = 14, accessible_end = 16;  // of small_house()

    Rehearsal() : first_(policy()), model_(policy()) {
        engine_ = &first_.engine;
        event_ = first_.event;
        for (std::uint32_t i = 0; i < general_places; ++i) standing_.push_back(labelled + i);
        for (std::uint32_t i = 0; i < labelled; ++i)
            if (i < accessible_first || i >= accessible_end) plain_.push_back(i);
    }
    [[nodiscard]] static EventPolicy policy() {
        EventPolicy policy;
        policy.max_extensions = 2;
        policy.hold_max_life = 900s;
        policy.orphan_rule = OrphanRule::off;  // has tests of its own
        return policy;
    }
    void expect(bool good, std::string const& what) {
        if (!good && difference_.empty()) difference_ = what;
    }

    void step(Command const& command) {
        using Verb = Command::Verb;
        switch (command.verb) {
            case Verb::seats:
            case Verb::candidates:
            case Verb::best:
            case Verb::general:
            case Verb::lines:
                return claim(command);
            case Verb::wait:
                now_ += Milliseconds{command.a % 200'000};
                return;
            case Verb::tick:
                engine_->expire(now_);
                return;
            case Verb::restart:
                return restart();
            default:
                break;
        }
        if (known_.empty()) return;
        std::size_t const newest = std::min<std::size_t>(known_.size(), 12);
        std::size_t const id = known_.size() - 1 - command.a % newest;
        std::size_t const other = known_.size() - 1 - command.b % newest;
        if (command.verb == Verb::release) return release(id);
        if (command.verb == Verb::extend) return extend(id, Milliseconds{command.c % 400'000 + 1});
        if (command.verb == Verb::cancel) return cancel(id);
        if (command.verb == Verb::confirm || id == other) return confirm({id});
        confirm({id, other});
    }

    [[nodiscard]] ClaimLine line_of(Command::Verb verb, std::uint32_t number,
                                    std::uint32_t count) const {
        using Verb = Command::Verb;
        ClaimLine line;
        if (verb == Verb::best) {
            line = SaleFixture::best(1 + count % 3);
            line.best.together = count / 3 % 2 == 0;
            line.best.prevent_orphans = false;
        } else if (verb == Verb::general) {
            line = first_.general(1 + count % 3);
        } else {
            line.kind = verb == Verb::seats ? ClaimLine::Kind::seats : ClaimLine::Kind::candidates;
            std::uint32_t const seats = verb == Verb::seats ? 1 + count % 3 : 4;
            for (std::uint32_t i = 0; i < seats; ++i)
                line.seats.push_back(SeatIndex{(number + i * 3) % labelled});
            line.count = verb == Verb::seats ? 0 : 1 + count % 3;
        }
        return line;
    }
    void claim(Command const& command) {
        using Verb = Command::Verb;
        std::vector<ClaimLine> lines;
        if (command.verb == Verb::lines) {
            lines.push_back(line_of(Verb::seats, command.a, command.b));
            lines.push_back(line_of(Verb::general, 0, command.b / 3));
        } else {
            lines.push_back(line_of(command.verb, command.a, command.b));
        }
        Milliseconds const ttl{30'000 + command.c % 300'000};
        auto const hold = engine_->claim({event_, lines, 0, ttl, false}, now_, seats_);
        if (!hold) {
            for (ClaimLine const& line : lines)
                if (refuses(line, hold.error())) return;
            return expect(false, "a claim was refused that the model grants, with code " +
                                     std::to_string(static_cast<int>(hold.error().code)) +
                                     " and number " + std::to_string(hold.error().number));
        }
        Numbers given;
        for (SeatIndex const seat : seats_) given.push_back(seat.value());
        expect(model_.free_of(given, now_) == given, "a claim was given a place that is taken");
        Numbers left = given;
        for (ClaimLine const& line : lines) take_out(left, line);
        expect(left.empty(), "a claim was given more than it asked for");
        expect(hold->expires_at == now_ + ttl, "a claim has another deadline");
        model_.give(given, now_, ttl);
        known_.push_back({hold->name, {}, given.size()});
    }
    /// Whether the model refuses this line too, for the same reason.
    [[nodiscard]] bool refuses(ClaimLine const& line, Refusal const& refusal) const {
        switch (line.kind) {
            case ClaimLine::Kind::seats:
                return refusal.code == RefusalCode::seats_unavailable &&
                       std::ranges::find(line.seats, refusal.seat) != line.seats.end() &&
                       !model_.is_free(refusal.seat.value(), now_);
            case ClaimLine::Kind::candidates:
                return refusal.code == RefusalCode::seats_unavailable &&
                       !model_.is_free(refusal.seat.value(), now_) &&
                       model_.free_of(numbers(line.seats), now_).size() < line.count;
            case ClaimLine::Kind::best:
                return refuses(line.best, refusal);
            case ClaimLine::Kind::general:
                return refusal.code == RefusalCode::sold_out &&
                       model_.free_of(standing_, now_).size() < line.count;
        }
        return false;
    }
    [[nodiscard]] bool refuses(BestWish const& best, Refusal const& refusal) const {
        std::size_t const standing = best.together ? 0 : model_.free_of(standing_, now_).size();
        Numbers const seats = model_.free_of(plain_, now_);
        // A kept verdict knows how many were left at most when it was made.
        if (refusal.code == RefusalCode::sold_out)
            return seats.size() + standing <= refusal.number && refusal.number < best.quantity;
        if (refusal.code != RefusalCode::best_available_not_found || best.quantity < 2)
            return false;
        if (best.together) return true;
        // Apart, every seat of one price will do, and so does the floor.
        auto const dear = static_cast<std::size_t>(std::ranges::count_if(
            seats, [this](std::uint32_t seat) { return price_of(seat) != price_of(0); }));
        return std::max({dear, seats.size() - dear, standing}) < best.quantity;
    }
    [[nodiscard]] std::int64_t price_of(std::uint32_t seat) const {
        return first_.layout().price_of(SeatIndex{seat});
    }
    [[nodiscard]] static Numbers numbers(std::vector<SeatIndex> const& seats) {
        Numbers all;
        for (SeatIndex const seat : seats) all.push_back(seat.value());
        return all;
    }
    /// Takes out of `left` what the line must have got.
    void take_out(Numbers& left, ClaimLine const& line) {
        Numbers wanted;
        std::size_t count = line.seats.size();
        if (line.kind == ClaimLine::Kind::seats) wanted = numbers(line.seats);
        if (line.kind == ClaimLine::Kind::candidates) {
            wanted = model_.free_of(numbers(line.seats), now_);
            wanted.resize(std::min<std::size_t>(wanted.size(), count = line.count));
        }
        if (line.kind == ClaimLine::Kind::best) {
            count = line.best.quantity;
            bool const floor = !line.best.together && left.front() >= labelled;
            wanted = floor ? standing_ : plain_;
        }
        if (line.kind == ClaimLine::Kind::general) wanted = standing_, count = line.count;
        std::size_t const before = left.size();
        std::erase_if(left, [&](std::uint32_t seat) {
            return std::ranges::find(wanted, seat) != wanted.end();
        });
        expect(before - left.size() == count, "a claim was given other places than it asked for");
    }

    void release(std::size_t id) {
        auto const lsn = engine_->release(known_[id].name, now_);
        Life const life = model_.life(id, now_);
        if (life == Life::sold)
            return expect(!lsn && lsn.error().code == RefusalCode::already_confirmed,
                          "a sold hold was released");
        expect(lsn.has_value(), "a release was refused");
        if (lsn) expect((*lsn != no_lsn) == (life == Life::held), "a release ended another hold");
        model_.end(id);
    }
    void extend(std::size_t id, Milliseconds by) {
        auto const view = engine_->extend(known_[id].name, by, now_, seats_);
        if (model_.life(id, now_) != Life::held)
            return expect(!view && view.error().code != RefusalCode::extension_refused,
                          "a hold that is gone or sold was extended");
        auto const until = model_.extend(id, by, now_);
        expect(view.has_value() == until.has_value(), "an extension went another way");
        if (view && until) expect(view->expires_at == *until, "an extension to another deadline");
    }
    void confirm(std::vector<std::size_t> const& ids) {
        OrderId const order{1, ++orders_};
        std::vector<HoldName> names;
        bool good = true;
        std::size_t places = 0;
        for (std::size_t const id : ids) {
            names.push_back(known_[id].name);
            places += known_[id].places;
            good = good && model_.life(id, now_) == Life::held;
        }
        good = good && places <= policy().max_per_order;
        bool const placed = engine_->confirm({order, names, PaymentMethod::none}, now_).has_value();
        expect(placed == good, "an order went another way");
        for (std::size_t const id : ids) {
            if (!good) continue;
            model_.sell(id);
            known_[id].order = order;
        }
    }
    void cancel(std::size_t id) {
        if (known_[id].order == OrderId{}) return;  // no order names it
        std::vector<HoldName> const names{known_[id].name};
        bool const done = engine_->cancel(known_[id].order, names, now_).has_value();
        expect(done == (model_.life(id, now_) == Life::sold), "a refund went another way");
        if (done) model_.end(id);
    }
    /// The journal builds the same sale (PROTOCOL.md I14).
    void restart() {
        auto engine = std::make_unique<Engine>(first_.journal, EngineOptions{});
        auto const spec = std::make_shared<EventSpec>(first_.event->spec());
        event_ = engine->add(spec);
        engine->build(*event_, first_.replayed());
        restarted_ = std::move(engine);
        engine_ = restarted_.get();
    }

    void compare() {
        for (std::uint32_t seat = 0; seat < labelled + general_places; ++seat)
            expect(event_->place(SeatIndex{seat}, now_) == model_.place(seat, now_),
                   "a place looks other than in the model");
        expect(first_.journal.reserved() == 0, "journal space was kept");
    }

    SaleFixture first_;
    std::unique_ptr<Engine> restarted_;
    Engine* engine_{};
    LiveEvent* event_{};
    SequentialModel model_;
    TimePoint now_{at(0ms)};
    std::vector<Known> known_;
    std::vector<SeatIndex> seats_;
    Numbers plain_, standing_;
    std::uint64_t orders_{0};
    std::string difference_;
};

}  // namespace holdfast::engine::test
