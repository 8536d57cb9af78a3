#include "tests/e2e/bad_bodies.hpp"

namespace holdfast::test {
namespace {

using namespace std::string_literals;

std::string quantity(std::string const& number) {
    return R"({"best":{"quantity":)" + number + "}}";
}
std::string seats(std::string const& names) {
    return R"({"seats":[)" + names + "]}";
}
std::string repeated(std::string_view text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}
/// A draft, which may be made: what is bad in it is told all the same.
std::string event(std::string const& members) {
    return R"({"name":"E",)" + members +
           R"(,"sections":[{"id":"A","rows":[{"label":"1","seats":2}]}]})";
}

void add_forms(std::vector<BadBody>& all) {
    auto const add = [&](std::string_view number, std::string body, std::string answer) {
        all.push_back({number, std::move(body), std::move(answer)});
    };
    add("B1", "", "400 malformed");
    add("B1", "   ", "400 malformed");
    for (std::string const text : {"null", "[]", "\"x\"", "1"})
        add("B1", text, "422 not-an-object");
    add("B2", R"({"best":{"quantity":1,"quantity":99}})", "400 duplicate-key");
    add("B2", R"({"best":{"quantity":1,"\u0071uantity":99}})", "400 duplicate-key");
    add("B3", repeated("[", 33) + repeated("]", 33), "400 too-deep");
    add("B3", repeated("[", 60'000), "400 too-deep");
    add("B4", std::string(64 * 1'024 + 1, ' '), "413 content-too-large");
    add("B4", std::string(1'024 * 1'024, ' '), "413 content-too-large");
    for (std::string const number : {"1.0", "1e0", "\"1\"", "true", "null", "[1]"})
        add("B6", quantity(number), "422 type");
    for (std::string const& number :
         {"0"s, "-1"s, "2147483648"s, "4294967297"s, "9223372036854775808"s,
          "18446744073709551616"s, "1e400"s, std::string(60'000, '9')})
        add("B7", quantity(number), "422 range");
    add("B16", "\xEF\xBB\xBF{}", "400 malformed");
    for (std::string const& text :
         {"/* a */{}"s, R"({"seats":["A-1-1"],})"s, "{'seats':['A-1-1']}"s,
          R"({"best":{"quantity":NaN}})"s, "{}{}"s, "{} x"s, "{\0}\0"s})
        add("B16", text, "400 malformed");
    for (std::string const type :
         {"text/plain", "application/json;charset=latin1", "multipart/form-data; boundary=x"})
        all.push_back({"B17", "{}", "415 unsupported-media-type", false, type});
}

void add_claims(std::vector<BadBody>& all) {
    auto const add = [&](std::string_view number, std::string body, std::string answer) {
        all.push_back({number, std::move(body), std::move(answer)});
    };
    add("B8", seats(""), "422 range");
    std::string eleven;
    for (int i = 1; i <= 11; ++i)
        eleven += (i == 1 ? "" : ",") + ("\"A-1-" + std::to_string(i)) + "\"";
    add("B8", seats(eleven), "422 range");
    add("B8", seats(repeated("\"a\",", 9'999) + "\"a\""), "422 range");
    add("B8", seats(R"("A-1-1","A-1-1")"), "422 duplicate-seat");
    for (std::string const other : {"a-1-1", " A-1-1", "A-1-1\xE2\x80\x8B", "\xEF\xBC\xA1-1-1"})
        add("B8", seats("\"A-1-2\",\"" + other + "\""), "422 unknown-seat");
    add("B9", seats(R"("A-1-1","B-1-1")"), "422 unknown-seat");
    add("B10", seats(R"("A-1-1","A-1-2","A-1-3","A-1-99","A-1-4","A-1-5")"), "422 unknown-seat");
    for (std::string const name : {"price", "owner", "state", "expires_at", "balance", "id"})
        add("B11", R"({"seats":["A-1-1"],")" + name + R"(":1})", "422 unknown-field");
    add("B14", seats("\"\\u0000\""), "400 malformed");
    add("B14", seats("\"\\ud800\""), "400 malformed");
    add("B14", seats("\"\xC0\xAF\""), "400 malformed");
    for (std::string const text : {"\\u202e", "\\r\\nSet-Cookie: x", "<script>", "' OR 1=1--",
                                   "%n%s", "{{7*7}}", "$(id)", "\\u001b[2J"})
        add("B14", seats("\"" + text + "\""), "422 unknown-seat");
    add("B14", seats("\"" + repeated("a\xCC\x81", 100) + "\""), "422 unknown-seat");
}

void add_events(std::vector<BadBody>& all) {
    auto const add = [&](std::string_view number, std::string const& members, std::string answer) {
        all.push_back({number, event(members), std::move(answer), true});
    };
    add("B11", R"("owner":"me")", "422 unknown-field");
    add("B11", R"("state":"open")", "422 unknown-field");
    for (std::string const ttl : {"-1", "0", "1000000000"})
        add("B20", R"("policy":{"hold_ttl_s":)" + ttl + "}", "422 range");
    add("B20", R"("policy":{"hold_ttl_s":"5m"})", "422 type");
    add("B12", R"("categories":[{"key":"c","name":"C","price":-5}])", "422 range");
    add("B12", R"("categories":[{"key":"c","name":"C","price":1000000000000000000}])", "422 range");
    add("B12", R"("categories":[{"key":"c","name":"C","price":0.1}])", "422 type");
}

}  // namespace

std::vector<BadBody> bad_bodies() {
    std::vector<BadBody> all;
    add_forms(all);
    add_claims(all);
    add_events(all);
    return all;
}

}  // namespace holdfast::test
