// Ids in the paths of orders that no order has.
#include "tests/api/stage.hpp"

#include <catch2/catch.hpp>

namespace holdfast::test {
namespace {

constexpr std::string_view alphabet = "abcdefghijklmnopqrstuvwxyz234567";

/// Ids that look like one of an order, or like nothing at all. The first is the number zero, which
/// stands for "no order" inside and may reach nobody.
std::vector<std::string> bad_ids() {
    std::vector<std::string> ids{"o_" + std::string(26, 'a')};
    for (char const c : alphabet) ids.push_back("o_" + std::string(25, 'a') + c);
    for (std::size_t const length : {0U, 1U, 16U, 25U, 27U, 52U, 1'000U})
        ids.push_back("o_" + std::string(length, 'a'));
    for (char const* const id :
         {"o_AAAAAAAAAAAAAAAAAAAAAAAAAA", "O_aaaaaaaaaaaaaaaaaaaaaaaaaa",
          "o-aaaaaaaaaaaaaaaaaaaaaaaaaa", "t_aaaaaaaaaaaaaaaaaaaaaaaaaa",
          "h_aaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaa",
          "o_00000000000000000000000000", "o_aaaaaaaaaaaaa1aaaaaaaaaaaa",
          "o_aaaaaaaaaaaaaaaaaaaaaaaaa=", "o_aaaaaaaaaaaa aaaaaaaaaaaaa", "o_%00%00%00",
          "o_\xc3\xa4", "0", "null", "-1", "o", "_", "..", "00000000-0000-0000-0000-000000000000"})
        ids.emplace_back(id);
    return ids;
}

}  // namespace

TEST_CASE("an id that no order has is not found, whatever is asked of it", "[orders]") {
    Stage stage;
    auto const hold = stage.claim(R"({"seats":["A-1-1"]})");
    auto const order = stage.post("/v1/orders", R"({"holds":[")" + hold["hold"] + R"("]})", staff);
    REQUIRE(order.status == 201);
    stage.record_order(order["order"], {hold["hold"]});
    auto const records = stage.journal.records().size();
    std::vector<std::string> ids = bad_ids();
    // Neighbours of a real id: an id has one spelling.
    for (std::size_t const at : {std::size_t{2}, order["order"].size() - 1}) {
        for (char const c : alphabet) {
            std::string near = order["order"];
            near[at] = c;
            if (near != order["order"]) ids.push_back(near);
        }
    }
    ids.push_back(order["order"] + "a");
    for (std::string const& id : ids) {
        CAPTURE(id);
        std::string const path = "/v1/orders/" + id;
        CHECK(stage.get(path, staff).status == 404);
        for (char const* const verb : {"/cancel", "/refund", "/reseat"}) {
            CHECK(stage.post(path + verb, "{}", staff)["code"] == "not-found");
            CHECK(stage.post(path + verb, "", staff).status == 404);
        }
        std::string const ticket = R"({"tickets":[")" + id + R"("]})";
        if (id.size() < 64 && id.find('\\') == std::string::npos)
            CHECK(stage.post("/v1/orders/" + order["order"] + "/refund", ticket, staff).status ==
                  422);
    }
    CHECK(stage.journal.records().size() == records);
    CHECK(stage.get("/v1/orders/" + order["order"], staff).status == 200);
}

}  // namespace holdfast::test
