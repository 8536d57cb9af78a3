// Rehearsal: runs one sequence of commands on an engine and on the sequential model.
//
// Purpose: a command is a few numbers that mean something in any state, so that a sequence stays a
// sequence when parts of it are deleted.
#pragma once

#include "tests/engine/rehearsal_changes.hpp"

namespace holdfast::engine::test {

class Rehearsal : private RehearsalChanges {
public:
    /// What differed first, or nothing.
    [[nodiscard]] static std::string run(std::vector<Command> const& commands, Rules const& rules,
                                         Tally& tally) {
        Rehearsal rehearsal(rules, tally);
        for (Command const& command : commands) {
            rehearsal.step(command);
            if (rehearsal.difference_.empty()) rehearsal.compare();
            if (!rehearsal.difference_.empty()) return rehearsal.difference_;
        }
        return {};
    }

private:
    using RehearsalChanges::RehearsalChanges;

    void step(Command const& command) {
        using Verb = Command::Verb;
        switch (command.verb) {
            case Verb::seats:
            case Verb::candidates:
            case Verb::best:
            case Verb::general:
            case Verb::lines:
                return claim(command);
            case Verb::partial:
                return claim_partly(command);
            case Verb::block:
                return block(command);
            case Verb::wait:
                // Whole ticks, so that nothing due is left to the next one.
                now_ += Milliseconds{command.a % 100'000 / 10 * 10};
                return model_.pass(now_);
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
        on_hold(command, known_.size() - 1 - command.a % newest,
                known_.size() - 1 - command.b % newest);
    }
    void on_hold(Command const& command, std::size_t id, std::size_t other) {
        using Verb = Command::Verb;
        switch (command.verb) {
            case Verb::release:
                return release(id);
            case Verb::extend:
                return extend(id, Milliseconds{command.c % 400'000 + 1});
            case Verb::cancel:
                return cancel(id);
            case Verb::exchange:
                return exchange(id, command);
            case Verb::give_back:
                return give_back(id, command);
            case Verb::refund:
                return refund(id, command);
            case Verb::reseat:
                return reseat(id, command);
            case Verb::unblock:
                return unblock(id);
            case Verb::confirm_two:
                return id == other ? confirm({id}) : confirm({id, other});
            default:
                return confirm({id});
        }
    }

    void release(std::size_t id) {
        auto const lsn = engine_->release(known_[id].name, now_);
        Life const life = model_.life(id);
        if (life == Life::sold)
            return expect(!lsn && lsn.error().code == RefusalCode::already_confirmed,
                          "a sold hold was released");
        expect(lsn.has_value(), "a release was refused");
        if (lsn) expect((*lsn != no_lsn) == (life == Life::held), "a release ended another hold");
        if (life == Life::held) note_done(Command::Verb::release);
        model_.end(id, now_);
    }
    void extend(std::size_t id, Milliseconds by) {
        auto const view = engine_->extend(known_[id].name, by, now_, seats_);
        if (model_.life(id) != Life::held)
            return expect(!view && view.error().code != RefusalCode::extension_refused,
                          "a hold that is gone or sold was extended");
        auto const until = model_.extend(id, by, now_);
        expect(view.has_value() == until.has_value(), "an extension went another way");
        if (view) note_done(Command::Verb::extend);
        if (view && until) expect(view->expires_at == *until, "an extension to another deadline");
    }
    void confirm(std::vector<std::size_t> const& ids) {
        OrderId const order{1, ++orders_};
        std::vector<HoldName> names;
        bool good = true;
        std::size_t places = 0;
        for (std::size_t const id : ids) {
            names.push_back(known_[id].name);
            places += model_.hold(id).seats.size();
            good = good && model_.life(id) == Life::held && !model_.hold(id).block;
        }
        good = good && places <= policy_.max_per_order;
        bool const placed = engine_->confirm({order, names, PaymentMethod::none}, now_).has_value();
        expect(placed == good, "an order went another way");
        for (std::size_t const id : ids) {
            if (!good) continue;
            note_done(ids.size() == 1 ? Command::Verb::confirm : Command::Verb::confirm_two);
            model_.sell(id);
            known_[id].order = order;
        }
    }
    void cancel(std::size_t id) {
        if (known_[id].order == OrderId{}) return;  // no order names it
        std::vector<HoldName> const names{known_[id].name};
        bool const done = engine_->cancel(known_[id].order, names, now_).has_value();
        expect(done == (model_.life(id) == Life::sold), "a refund went another way");
        if (!done) return;
        note_done(Command::Verb::cancel);
        model_.end(id, now_);
    }
};

}  // namespace holdfast::engine::test
