// CrashStates: what a power cut may leave of a traced run, state by state (as ALICE does it).
//
// Purpose: goes along the calls of a trace. Behind each one the power may be cut; what was synced
//   is there, and of the rest each item (a sector of 512 bytes that is written, a file's new size,
//   a change of a folder's names) is there or not, in any order. All states are made in which up to
//   three items are lost or half written and the others kept, and in which up to three are kept or
//   half written and the others lost.
// Thread safety: one thread. Invariants: a state that the call before could leave as well is not
//   made again. Cost: a copy of each file with items not yet synced.
#pragma once

#include "tests/sim/traced_disk.hpp"

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace holdfast::sim {

class CrashStates {
public:
    explicit CrashStates(Files const& files);

    /// Takes in the next call.
    void apply(DiskCall const& call);
    /// How many states the power may leave now that it could not leave before the last call.
    [[nodiscard]] std::uint64_t count() const;
    /// Gives those of them whose number, counted from 0, `wanted` agrees to.
    void each(std::function<bool(std::uint64_t)> const& wanted,
              std::function<void(Files const&)> const& visit) const;
    /// A sector was written twice without a sync between: states with its middle version are not
    /// made. The journal does not do that.
    [[nodiscard]] bool is_incomplete() const noexcept { return rewritten_; }

private:
    enum class Fate : std::uint8_t { lost, kept, half };
    struct Node {
        std::vector<std::byte> cache;
        Content device;  // never null
        std::set<std::size_t> dirty;
        [[nodiscard]] bool grew() const { return cache.size() > device->size(); }
    };
    struct NameChange {
        std::string gone, made;
        std::size_t node{};
    };
    struct Item {
        enum class Kind : std::uint8_t { sector, size, name } kind{};
        std::size_t node{};    // of sector, size
        std::size_t number{};  // the sector, or the change of names
    };
    using Fates = std::vector<Fate>;

    void write(DiskCall const& call);
    void sync(std::size_t node);
    void change_names(NameChange change);
    void find_items(DiskCall const& call);
    [[nodiscard]] Files build(Fates const& fates) const;
    [[nodiscard]] Content content_of(std::size_t node, Fates const& fates) const;
    /// Calls `visit` with the fates of each state.
    void each_fates(std::function<void(Fates const&)> const& visit) const;

    std::vector<Node> nodes_;
    std::map<std::string, std::size_t> names_;  // on the device
    std::vector<NameChange> unsynced_names_;
    std::vector<Item> items_;
    std::vector<bool> newest_;  // items that the last call brought
    bool any_newest_{};
    bool settles_{};  // the last call made something durable, so all is to be looked at anew
    bool rewritten_{};
};

}  // namespace holdfast::sim
