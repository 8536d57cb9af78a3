#include "engine/base32.hpp"
#include "tests/support/temp_folder.hpp"

#include <holdfast/engine/server_key.hpp>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace holdfast::engine {
namespace {

ServerKey::Secret secret_from(std::uint8_t first) {
    ServerKey::Secret secret{};
    for (std::size_t i = 0; i < secret.size(); ++i) {
        secret[i] = static_cast<std::uint8_t>(first + i);
    }
    return secret;
}

HoldName hold_of(std::uint32_t event, std::uint64_t generation, std::uint32_t slot) {
    return {EventId{event}, HoldRef{generation, SlotIndex{slot}}};
}

constexpr ServerKey::StoreId own_store{7, 8, 9};

void write_bytes(std::filesystem::path const& file, std::size_t count, unsigned mode) {
    std::ofstream(file, std::ios::binary) << std::string(count, 'k');
    REQUIRE(::chmod(file.c_str(), static_cast<mode_t>(mode)) == 0);
}

std::string refusal_of(std::filesystem::path const& file) {
    try {
        (void)ServerKey::load_or_make(file, own_store);
    } catch (std::runtime_error const& error) {
        return error.what();
    }
    return "";
}

/// Empty: it is used.
std::optional<KeyFileFault::Kind> fault_of(std::filesystem::path const& file,
                                           ServerKey::StoreId const& store_id = own_store) {
    try {
        (void)ServerKey::load(file, store_id);
    } catch (KeyFileFault const& fault) {
        return fault.kind();
    }
    return {};
}

}  // namespace

TEST_CASE("base32 gives one text for one block and takes no other", "[server_key]") {
    Block block{};
    std::string text;
    append_base32(text, block);
    CHECK(text == std::string(26, 'a'));
    block.fill(0xFF);
    text.clear();
    append_base32(text, block);
    CHECK(text == std::string(25, '7') + "4");
    CHECK(parse_base32(text) == block);
    CHECK_FALSE(parse_base32(std::string(26, '7')));  // spare bits that are not zero
    CHECK_FALSE(parse_base32(std::string(25, '7')));
    CHECK_FALSE(parse_base32(std::string(27, 'a')));
    CHECK_FALSE(parse_base32(std::string(25, 'A') + "a"));
    CHECK_FALSE(parse_base32(std::string(25, 'a') + "1"));
    CHECK_FALSE(parse_base32(std::string(24, 'a') + "=="));
    CHECK_FALSE(parse_base32(std::string(25, 'a') + '\0'));
    CHECK_FALSE(parse_base32(""));
}

TEST_CASE("ids and tokens come back to the same hold", "[server_key]") {
    ServerKey const key(secret_from(1));
    for (std::uint32_t i = 0; i < 2'000; ++i) {
        HoldName const hold = hold_of(1 + i % 7, 1 + i * 977ULL, 1 + i);
        std::string const id = key.hold_id(hold);
        REQUIRE(id.size() == 28);
        CHECK(key.parse_hold_id(id) == hold);
        CHECK(key.hold_id(hold) == id);
        CHECK(key.token_fits(hold, key.token(hold)));
        CHECK_FALSE(key.token_fits(hold_of(1 + i % 7, 2 + i * 977ULL, 1 + i), key.token(hold)));
        CHECK(key.hold_of_token(key.token(hold)) == hold);
    }
    HoldName const last = hold_of(0xFFFF'FFFF, HoldRef::generation_max, (1U << 24) - 1);
    CHECK(key.parse_hold_id(key.hold_id(last)) == last);
}

TEST_CASE("ids, tokens and tickets are the same in every build", "[server_key]") {
    // Checked against the openssl command; a change would orphan every id that clients hold.
    ServerKey const key(secret_from(0));
    HoldName const hold = hold_of(1, 1, 1);
    CHECK(key.hold_id(hold) == "h_j5wuoh3vcb5oz5cgwvahyts77y");
    CHECK(key.token(hold) == "kfguiyjiobub6zwxgeenilwnzm");
    CHECK(to_text(key.ticket_id(OrderId{1, 2}, EventId{3}, SeatIndex{4})) ==
          "t_dxzbog6om2ppyvtfgnvnwg4sky");
    CHECK(to_text(OrderId{0x0706'0504'0302'0100, 0x0F0E'0D0C'0B0A'0908}) ==
          "o_aaaqeayeaudaocajbifqydiob4");
}

TEST_CASE("an altered id or token is refused at each character", "[server_key]") {
    ServerKey const key(secret_from(2));
    HoldName const hold = hold_of(9, 12'345, 678);
    std::string const id = key.hold_id(hold);
    std::string const token = key.token(hold);
    for (std::string const letters = "abcdefghijklmnopqrstuvwxyz234567A=_ "; char c : letters) {
        for (std::size_t at = 0; at < id.size(); ++at) {
            if (id[at] == c) continue;
            std::string altered = id;
            altered[at] = c;
            CHECK_FALSE(key.parse_hold_id(altered));
        }
        for (std::size_t at = 0; at < token.size(); ++at) {
            if (token[at] == c) continue;
            std::string altered = token;
            altered[at] = c;
            CHECK_FALSE(key.token_fits(hold, altered));
            CHECK_FALSE(key.hold_of_token(altered));
        }
    }
    for (std::size_t kept = 0; kept < id.size(); ++kept) {
        CHECK_FALSE(key.parse_hold_id(id.substr(0, kept)));
        CHECK_FALSE(key.token_fits(hold, token.substr(0, std::min(kept, token.size() - 1))));
    }
    CHECK_FALSE(key.parse_hold_id("o_" + id.substr(2)));
    CHECK_FALSE(key.parse_hold_id(id + "a"));
    CHECK_FALSE(key.parse_hold_id(std::string(500, 'a')));
    CHECK_FALSE(key.token_fits(hold, id.substr(2)));
}

TEST_CASE("two keys know nothing of each other, also on one thread", "[server_key]") {
    ServerKey const one(secret_from(1));
    ServerKey const two(secret_from(2));
    HoldName const hold = hold_of(1, 1, 1);
    std::string const id = one.hold_id(hold);
    CHECK(two.hold_id(hold) != id);
    CHECK_FALSE(two.parse_hold_id(id));
    CHECK(two.token(hold) != one.token(hold));
    CHECK_FALSE(two.token_fits(hold, one.token(hold)));
    CHECK(one.parse_hold_id(id) == hold);
    auto const ticket = one.ticket_id(OrderId{1, 2}, EventId{1}, SeatIndex{1});
    CHECK(two.ticket_id(OrderId{1, 2}, EventId{1}, SeatIndex{1}) != ticket);
}

TEST_CASE("tickets differ by order, event and seat", "[server_key]") {
    ServerKey const key(secret_from(1));
    std::set<TicketId> seen;
    for (std::uint64_t order = 0; order < 10; ++order) {
        for (std::uint32_t event = 1; event < 6; ++event) {
            for (std::uint32_t seat = 0; seat < 20; ++seat) {
                seen.insert(key.ticket_id(OrderId{order, 7}, EventId{event}, SeatIndex{seat}));
                seen.insert(key.ticket_id(OrderId{7, order}, EventId{event}, SeatIndex{seat}));
            }
        }
    }
    CHECK(seen.size() == 2U * 10 * 5 * 20 - 5 * 20);  // order {7, 7} comes twice
}

TEST_CASE("a key may be used by many threads", "[server_key]") {
    ServerKey const key(secret_from(3));
    std::vector<std::uint32_t> wrong(4, 1);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t) {
        threads.emplace_back([&key, &wrong, t] {
            std::uint32_t failures = 0;
            for (std::uint32_t i = 1; i < 2'000; ++i) {
                HoldName const hold = hold_of(1, i, static_cast<std::uint32_t>(t) + 1);
                if (key.parse_hold_id(key.hold_id(hold)) != hold) ++failures;
                if (!key.token_fits(hold, key.token(hold))) ++failures;
            }
            wrong[t] = failures;
        });
    }
    for (auto& thread : threads) thread.join();
    for (auto const failures : wrong) CHECK(failures == 0);
}

TEST_CASE("order ids are random and have one text", "[server_key]") {
    std::set<std::string> seen;
    for (int i = 0; i < 1'000; ++i) {
        OrderId const order = make_order_id();
        std::string const text = to_text(order);
        CHECK(parse_order_id(text) == order);
        seen.insert(text);
    }
    CHECK(seen.size() == 1'000);
    CHECK_FALSE(parse_order_id("o_" + std::string(26, 'a')));  // zero is no order
    CHECK_FALSE(parse_order_id("h_aaaqeayeaudaocajbifqydiob4"));
    CHECK_FALSE(parse_order_id("o_AAAQEAYEAUDAOCAJBIFQYDIOB4"));
    CHECK_FALSE(parse_order_id("1"));
    CHECK_FALSE(parse_order_id(""));
}

TEST_CASE("the key file is made once, for the owner only, and read again", "[server_key]") {
    holdfast::test::TempFolder const folder;
    auto const file = folder.path() / "server.key";
    HoldName const hold = hold_of(1, 2, 3);
    std::string const id = ServerKey::load_or_make(file, own_store).hold_id(hold);
    struct stat about{};
    REQUIRE(::stat(file.c_str(), &about) == 0);
    CHECK((about.st_mode & 0777U) == 0600U);
    CHECK(about.st_size == 52);
    CHECK(ServerKey::load_or_make(file, own_store).hold_id(hold) == id);
    CHECK(ServerKey::load(file, own_store).hold_id(hold) == id);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
    CHECK(ServerKey::load_or_make(folder.path() / "other.key", own_store).hold_id(hold) != id);
    CHECK_THROWS_AS(ServerKey::load(folder.path() / "no.key", own_store), std::system_error);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "no.key"));
}

TEST_CASE("P10: one bit flipped at any byte of server.key is found", "[server_key]") {
    holdfast::test::TempFolder const folder;
    auto const file = folder.path() / "server.key";
    (void)ServerKey::load_or_make(file, own_store);
    std::string const bytes = holdfast::test::read_file(file);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (int bit = 0; bit < 8; ++bit) {
            CAPTURE(at, bit);
            std::string changed = bytes;
            changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
            folder.write("server.key", changed);
            CHECK(fault_of(file) == KeyFileFault::Kind::damaged);
        }
    }
    folder.write("server.key", bytes);
    CHECK_FALSE(fault_of(file).has_value());
}

TEST_CASE("P10: a key file of another length, of zeros or of another server is not used",
          "[server_key]") {
    holdfast::test::TempFolder const folder;
    auto const file = folder.path() / "server.key";
    (void)ServerKey::load_or_make(file, own_store);
    std::string const bytes = holdfast::test::read_file(file);
    SECTION("cut") {
        for (std::size_t length = 0; length < bytes.size(); ++length) {
            folder.write("server.key", bytes.substr(0, length));
            CHECK(fault_of(file) == KeyFileFault::Kind::damaged);
        }
    }
    SECTION("longer") {
        folder.write("server.key", bytes + '\0');
        CHECK_THAT(refusal_of(file), Catch::Contains("is damaged: it has 53 bytes and not 52"));
    }
    SECTION("zeros, as a disk may leave them") {
        folder.write("server.key", std::string(bytes.size(), '\0'));
        CHECK(fault_of(file) == KeyFileFault::Kind::damaged);
        CHECK(fault_of(file, {}) == KeyFileFault::Kind::damaged);
    }
    SECTION("of another server") {
        CHECK(fault_of(file, {7, 8}) == KeyFileFault::Kind::of_another);
    }
}

TEST_CASE("a key file that others may read, or that is odd, is refused by name", "[server_key]") {
    holdfast::test::TempFolder const folder;
    auto const file = folder.path() / "server.key";
    SECTION("modes") {
        auto const mode = GENERATE(0644U, 0640U, 0604U, 0620U, 0602U, 0610U, 0777U);
        CAPTURE(mode);
        write_bytes(file, 52, mode);
        CHECK_THAT(refusal_of(file), Catch::Contains("server.key") && Catch::Contains("0600"));
        CHECK(fault_of(file) == KeyFileFault::Kind::not_private);
        CHECK(std::filesystem::file_size(file) == 52);
    }
    SECTION("0400 is enough") {
        REQUIRE(refusal_of(file).empty());
        REQUIRE(::chmod(file.c_str(), 0400) == 0);
        CHECK(refusal_of(file).empty());
    }
    SECTION("a folder") {
        std::filesystem::create_directory(file);
        CHECK_THAT(refusal_of(file), Catch::Contains("regular"));
    }
    SECTION("a link") {
        write_bytes(folder.path() / "real", 52, 0600);
        std::filesystem::create_symlink(folder.path() / "real", file);
        CHECK_THAT(refusal_of(file), Catch::Contains("server.key"));
    }
    SECTION("no folder") {
        CHECK_THAT(refusal_of(folder.path() / "absent" / "server.key"), Catch::Contains("absent"));
    }
    SECTION("a draft left by a crash is replaced") {
        write_bytes(folder.path() / "server.key.tmp", 5, 0644);
        CHECK(refusal_of(file).empty());
        CHECK(std::filesystem::file_size(file) == 52);
    }
}

}  // namespace holdfast::engine
