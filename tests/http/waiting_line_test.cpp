// Who waits in a line: order, and leaving it from anywhere.
#include "http/waiting_line.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <string>

using namespace holdfast::http;

namespace {

struct Place : Waiting {
    char name{};
};

std::string names(WaitingList& list) {
    std::string all;
    for (Waiting* at = list.first(); at != nullptr; at = at->next_waiting)
        all += static_cast<Place*>(at)->name;
    return all;
}

}  // namespace

TEST_CASE("whoever leaves a line from anywhere, the others keep their order", "[http][line]") {
    std::array<Place, 4> places;
    WaitingList list;
    std::string all;
    for (Place& place : places) {
        place.name = static_cast<char>('a' + (&place - places.data()));
        list.push(place);
        all += place.name;
    }
    REQUIRE(names(list) == all);
    auto const leaves = static_cast<std::size_t>(GENERATE(0, 1, 2, 3));
    list.remove(places[leaves]);
    all.erase(leaves, 1);
    CHECK(names(list) == all);
    list.remove(places[leaves]);  // stands there no more
    CHECK(names(list) == all);
    list.push(places[leaves]);
    CHECK(names(list) == all + places[leaves].name);
    while (list.first() != nullptr) list.pop();
    list.remove(places[leaves]);
    list.push(places[2]);
    CHECK(names(list) == "c");
    list.remove(places[2]);
    list.push(places[1]);
    list.push(places[0]);
    CHECK(names(list) == "ba");
}
