// Fuzzes the way from bytes to replies: guard, chunked decoder, Beast, router, handlers, replies.
//
// The first byte says how the rest is cut into packets. A live server gets the rest twice, on two
// connections: whole, and in those packets. Both must be answered alike, never with a 500.
#include "tests/http/live.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

namespace {

using namespace live;

void require(bool good, char const* what, std::string_view answers) {
    if (good) return;
    std::fprintf(stderr, "broken: %s\n%.*s\n", what, static_cast<int>(answers.size()),
                 answers.data());
    std::abort();
}

/// Runs a job where it is given: the io thread then meets its own reply.
class InlineWorkers final : public Workers {
public:
    [[nodiscard]] bool submit(std::function<void()> job) override {
        job();
        return true;
    }
};

class Front {
public:
    Front() : server_(options(), Router{routes()}, gate_, workers_, clock_) { server_.start(); }
    ~Front() { server_.stop(Milliseconds{0}); }

    [[nodiscard]] std::string answers(std::string_view bytes, std::minstd_rand* cuts) {
        Client client{next_address()};
        while (!bytes.empty()) {
            std::size_t const most = cuts == nullptr ? bytes.size() : 1 + (*cuts)() % 40;
            std::string_view const packet = bytes.substr(0, most);
            if (!client.send(packet)) break;  // refused, and gone
            bytes.remove_prefix(packet.size());
        }
        client.end_sending();
        return client.rest();
    }

private:
    static ServerOptions options() {
        ServerOptions options;
        options.listen = "0.0.0.0:0";
        return options;
    }
    /// Another address of loopback each time, or the ports of one would soon be used up.
    std::string next_address() {
        std::string const address = server_.address();
        ++calls_;
        return "127.0." + std::to_string(calls_ / 250 % 250) + '.' +
               std::to_string(1 + calls_ % 250) + address.substr(address.rfind(':'));
    }
    static std::vector<Route> routes() {
        Handler const echo = [](Request const& request, Reply& reply) {
            reply.body.append(request.query).append(request.body);
        };
        std::vector<Route> table;
        table.push_back({Method::get, "/", RunsOn::io, echo, {}, 0});
        table.push_back({Method::post, "/echo", RunsOn::io, echo, {}, 1'000});
        table.push_back({Method::put, "/item/{id}", RunsOn::worker, echo, {}, 1'000});
        table.push_back({Method::del, "/item/{id}", RunsOn::io, echo, {}, 0});
        return table;
    }

    FakeGate gate_;
    InlineWorkers workers_;
    RunningClock clock_{TimePoint{}};
    Server server_;
    unsigned calls_{};
};

Front& front() {
    static Front here;
    return here;
}

void replace_all(std::string& text, std::string const& from, std::string_view to) {
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

/// Without what may differ: dates, made-up ids, and whether a body was asked for.
std::string comparable(std::string answers) {
    static std::string const id = "\r\nX-Request-Id: ";
    static std::string const date = "\r\nDate: ";
    replace_all(answers, "HTTP/1.1 100 Continue\r\n\r\n", "");
    for (std::size_t at = answers.find(date); at != answers.npos; at = answers.find(date, at + 1))
        answers.erase(at, answers.find("\r\n", at + 2) - at);
    for (std::size_t at = answers.find(id); at != answers.npos; at = answers.find(id, at + 1)) {
        std::size_t const begin = at + id.size();
        std::string const made = answers.substr(begin, answers.find("\r\n", begin) - begin);
        if (made.size() >= 16) replace_all(answers, made, "ID");
    }
    return answers;
}

constexpr std::string_view samples[] = {
    "\x01GET /?a=b HTTP/1.1\r\nHost: t.example\r\n\r\n",
    "\x02POST /echo HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n"
    "Content-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n",
    "\x03PUT /item/7 HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n"
    "Transfer-Encoding: chunked\r\n\r\n3\r\n{ }\r\n0\r\n\r\n",
    "\x04"
    "DELETE /item/8 HTTP/1.1\r\nHost: [::1]:80\r\nExpect: 100-continue\r\n\r\n",
    "\x05OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\nHEAD / HTTP/1.0\r\n\r\n",
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
    if (size < 8) {
        std::string_view const sample = samples[seed % std::size(samples)];
        size = std::min(sample.size(), max);
        std::memcpy(data, sample.data(), size);
    }
    return LLVMFuzzerMutate(data, size, max);
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size == 0) return 0;
    std::string_view const bytes{reinterpret_cast<char const*>(data) + 1, size - 1};
    std::string const whole = front().answers(bytes, nullptr);
    require(whole.empty() || whole.starts_with("HTTP/1.1 "), "no answer of HTTP", whole);
    require(whole.find("HTTP/1.1 500") == whole.npos || bytes.find("500") != bytes.npos, "a 500",
            whole);
    std::minstd_rand cuts(data[0] + 1U);
    std::string const cut = front().answers(bytes, &cuts);
    require(comparable(whole) == comparable(cut), "cut, it is answered otherwise", whole + cut);
    return 0;
}
