// The waiting line's flag, through all interleavings of its io thread and those who wake it.
#include "http/waiting_line.hpp"
#include "tests/support/interleave.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <optional>

namespace {

using holdfast::http::WakeFlag;
using holdfast::test::deepened;
using holdfast::test::Explorer;
using holdfast::test::SteppedAtomics;

template <class T>
using Stepped = SteppedAtomics::Atomic<T>;

enum class IoOrder : std::uint8_t { arms_before_it_looks, looks_before_it_arms, takes_wake_late };

/// An io thread whose sessions wait for the records 1 to `records`, as IoThread does it, and the
/// journal that makes them durable one at a time.
struct LineModel {
    explicit LineModel(int the_records, IoOrder the_order = IoOrder::arms_before_it_looks)
        : records(the_records), order(the_order) {}

    void move_disk() {
        for (int lsn = 1; lsn <= records; ++lsn) {
            durable->store(lsn, std::memory_order_seq_cst);
            wake();
        }
    }
    void wake() {
        if (flag->claim_wake()) posted->fetch_add(1, std::memory_order_seq_cst);
    }
    [[nodiscard]] bool is_durable(int lsn) const {
        return lsn <= durable->load(std::memory_order_seq_cst);
    }
    void wait_for_disk(int lsn) {
        bool const early = order == IoOrder::looks_before_it_arms && is_durable(lsn);
        flag->arm();
        bool const late = order != IoOrder::looks_before_it_arms && is_durable(lsn);
        if (early || late) {
            ++replied;
        } else {
            line.push_back(lsn);
        }
    }
    void resume_durable() {
        for (;;) {
            int const now = durable->load(std::memory_order_seq_cst);
            for (; !line.empty() && line.front() <= now; ++replied) line.pop_front();
            if (line.empty()) return;
            flag->arm();
            if (!is_durable(line.front())) return;
        }
    }
    void serve_wake() {
        Explorer::wait_until([this] { return posted->peek() > 0; });
        posted->fetch_sub(1, std::memory_order_seq_cst);
        if (order != IoOrder::takes_wake_late) flag->take_wake();
        resume_durable();
        if (order == IoOrder::takes_wake_late) flag->take_wake();
    }
    /// Two sessions at a time, then what the disk has done meanwhile.
    void serve() {
        for (int lsn = 1; lsn <= records; ++lsn) {
            wait_for_disk(lsn);
            while (lsn % 2 == 0 && !line.empty()) serve_wake();
        }
        while (!line.empty()) serve_wake();
    }
    [[nodiscard]] Explorer::Actors prepare() {
        durable.emplace();
        posted.emplace();
        flag.emplace();
        line.clear();
        replied = 0;
        // The third one has other news, as that the journal has failed.
        return {[this] { serve(); }, [this] { move_disk(); }, [this] { wake(); }};
    }
    /// What was found; nothing if every session has its reply.
    [[nodiscard]] std::string explored(int preemptions) {
        Explorer explorer(deepened(preemptions));
        explorer.explore([this] { return prepare(); }, [this] { return replied == records; },
                         [&] {
                             // Its memory is for one.
                             if (posted->peek() > 1) explorer.fail("two wake-ups are on their way");
                         });
        schedules = explorer.schedules;
        return explorer.failure;
    }

    int records;
    IoOrder order;
    std::optional<Stepped<int>> durable;
    std::optional<Stepped<int>> posted;
    std::optional<WakeFlag<SteppedAtomics::Atomic>> flag;
    std::deque<int> line;
    int replied{};
    std::uint64_t schedules{};
};

}  // namespace

TEST_CASE("no session is left in the line, and one wake-up at most is on its way",
          "[http][line][model]") {
    if (!holdfast::test::has_fibers()) return;
    for (int const records : {1, 2, 3}) {
        CAPTURE(records);
        LineModel model(records);
        CHECK(model.explored(4) == "");
        CHECK(model.schedules > 100);
    }
}

TEST_CASE("the model of a line finds an io thread that arms or takes too late",
          "[http][line][model]") {
    if (!holdfast::test::has_fibers()) return;
    for (auto const order : {IoOrder::looks_before_it_arms, IoOrder::takes_wake_late}) {
        LineModel model(2, order);
        CHECK_THAT(model.explored(3), Catch::Contains("a wake-up was lost"));
    }
}
