#include "journal/buffer.hpp"

#include "journal/format.hpp"
#include "tests/journal/fixture.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <thread>

namespace {

using namespace holdfast;
using namespace holdfast::journal;
using namespace holdfast::journal::test;

constexpr std::size_t block = 64U << 10;

}  // namespace

TEST_CASE("reservations alone keep the producers out of blocks in use", "[journal][buffer]") {
    // The journal thread is stuck with the first block; whatever sizes the producers choose, what
    // they may reserve fits into the others. An append that did not fit would assert.
    std::mt19937_64 random{seed_of_run()};
    std::string const text(limits::record_bytes_max, 'x');
    int spread = 0;  // rounds that needed more than one block
    for (int round = 0; round < 300; ++round) {
        // In a block of 64 KiB all that may be reserved has room, so larger ones are needed, too.
        Buffer buffer{std::array{block, 4 * block, limits::group_bytes_max}.at(
                          static_cast<std::size_t>(round / 6) % 3),
                      no_lsn};
        std::size_t total = 0;
        std::atomic<std::uint64_t> durable{0};
        bool const closed_early = round % 2 == 0;
        std::size_t const largest =
            round % 3 == 0 ? buffer.largest_record() : 1 + random() % buffer.largest_record();
        for (std::uint64_t lsn = 1;; ++lsn) {
            std::size_t const bytes = std::max<std::size_t>(
                record_header_bytes, round % 5 == 0 ? largest : 1 + random() % largest);
            if (!buffer.reserve(bytes)) break;
            Lsn const got = buffer.append(
                RecordType::claim, 1, bytes_of(text).first(bytes - record_header_bytes), durable);
            REQUIRE(got == Lsn{lsn});
            total += bytes;
            if (lsn == 1 && closed_early) REQUIRE(buffer.take().has_value());
        }
        REQUIRE(total > 0);
        spread += total > buffer.capacity() ? 1 : 0;
    }
    CHECK(spread > 100);
}

TEST_CASE("what may be reserved is never a record that no block takes, whatever the segments' size",
          "[journal][buffer]") {
    std::string const text(limits::record_bytes_max, 'x');
    std::atomic<std::uint64_t> durable{0};
    for (std::size_t segment = 64U << 10; segment <= limits::group_bytes_max + page_bytes;
         segment += page_bytes) {
        CAPTURE(segment);
        Buffer buffer{segment - page_bytes, no_lsn};
        std::size_t const most = std::min(buffer.limit(), limits::record_bytes_max);
        REQUIRE(most <= buffer.largest_record());
        REQUIRE(buffer.reserve(most));
        CHECK(buffer.append(RecordType::claim, 1, bytes_of(text).first(most - record_header_bytes),
                            durable) == Lsn{1});
        if (segment >= limits::segment_bytes_min) CHECK(most == limits::record_bytes_max);
    }
}

TEST_CASE("records that do not fit go to the next block, and all come out in order",
          "[journal][buffer]") {
    std::mt19937_64 random{seed_of_run()};
    Buffer buffer{limits::group_bytes_max, no_lsn};
    std::atomic<std::uint64_t> durable{0};
    std::string const text(limits::record_bytes_max, 'x');
    std::uint64_t appended = 0;
    std::uint64_t taken = 0;
    // The numbers of blocks wrap after sixteen.
    for (int round = 0; round < 40; ++round) {
        for (;;) {
            std::size_t const bytes = record_header_bytes + 8 + random() % 60'000;
            if (!buffer.reserve(bytes)) break;
            std::string payload = text.substr(0, bytes - record_header_bytes);
            ++appended;
            std::memcpy(payload.data(), &appended, sizeof appended);
            REQUIRE(buffer.append(RecordType::claim, 1, bytes_of(payload), durable) ==
                    Lsn{appended});
        }
        int blocks = 0;
        while (auto const filled = buffer.take()) {
            std::span<std::byte const> rest =
                filled->group.subspan(group_header_bytes, filled->payload_bytes);
            while (auto const record = take_record(rest)) {
                std::uint64_t number{};
                std::memcpy(&number, record->payload.data(), sizeof number);
                REQUIRE(number == ++taken);
            }
            REQUIRE(rest.empty());
            REQUIRE(filled->lsn_low == taken);
            durable.store(taken);
            buffer.release();
            ++blocks;
        }
        REQUIRE(blocks >= 2);
        REQUIRE(taken == appended);
    }
    CHECK_FALSE(buffer.reserve(buffer.limit() + 1));
}

TEST_CASE("a block hands out exactly the bytes that were put in", "[journal][buffer]") {
    Buffer buffer{block, Lsn{41}};
    std::atomic<std::uint64_t> durable{41};
    REQUIRE_FALSE(buffer.take().has_value());
    REQUIRE(buffer.reserve(200));
    CHECK(buffer.append(RecordType::order, 7, bytes_of("first"), durable) == Lsn{42});
    CHECK(buffer.append(RecordType::end, 8, bytes_of(""), durable) == Lsn{43});
    auto const filled = buffer.take();
    REQUIRE(filled.has_value());
    CHECK(filled->lsn_low == 43);
    CHECK(filled->group.size() == page_bytes);
    CHECK(filled->payload_bytes == 9 + 4);
    std::span<std::byte const> rest = filled->group.subspan(group_header_bytes, 13);
    auto const first = take_record(rest);
    auto const second = take_record(rest);
    REQUIRE(first.has_value());
    REQUIRE(second.has_value());
    CHECK(first->type == RecordType::order);
    CHECK(first->version == 7);
    CHECK(first->payload.size() == 5);
    CHECK(second->type == RecordType::end);
    CHECK(second->payload.empty());
    CHECK(rest.empty());
    buffer.release();
    CHECK_FALSE(buffer.take().has_value());
}

TEST_CASE("four producers and a consumer lose and mix up nothing", "[journal][buffer][stress]") {
    constexpr int producers = 4;
    constexpr std::uint64_t each = 20'000;
    Buffer buffer{4 * block, no_lsn};
    std::atomic<std::uint64_t> durable{0};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int producer = 0; producer < producers; ++producer) {
        threads.emplace_back([&, producer] {
            std::mt19937_64 random{static_cast<std::uint64_t>(producer)};
            std::uint64_t last = 0;
            for (std::uint64_t at = 0; at < each;) {
                std::string text = std::to_string(producer) + ":" + std::to_string(at);
                text.resize(text.size() + random() % (at % 64 == 0 ? 50'000 : 60), '.');
                if (!buffer.reserve(record_header_bytes + text.size())) {
                    std::this_thread::yield();
                    continue;
                }
                Lsn const lsn = buffer.append(RecordType::claim, 1, bytes_of(text), durable);
                if (lsn.value() <= last) wrong.fetch_add(1);
                last = lsn.value();
                ++at;
            }
        });
    }
    std::array<std::uint64_t, producers> next{};
    std::uint64_t taken = 0;
    while (taken < producers * each) {
        auto const filled = buffer.take();
        if (!filled) {
            std::this_thread::yield();
            continue;
        }
        std::span<std::byte const> rest =
            filled->group.subspan(group_header_bytes, filled->payload_bytes);
        while (auto const record = take_record(rest)) {
            std::string_view const text{reinterpret_cast<char const*>(record->payload.data()),
                                        record->payload.size()};
            auto const producer = static_cast<std::size_t>(text[0] - '0');
            std::string const expected = std::to_string(next.at(producer)++);
            if (text.substr(2, expected.size()) != expected) wrong.fetch_add(1);
            ++taken;
        }
        if (!rest.empty() || filled->lsn_low != taken) wrong.fetch_add(1);
        durable.store(taken);
        buffer.release();
    }
    for (auto& thread : threads) thread.join();
    CHECK(wrong.load() == 0);
    CHECK(buffer.appended_lsn(durable) == Lsn{taken});
    CHECK(buffer.reserve(buffer.limit()));
}
