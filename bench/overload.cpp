// Ten times as many buyers as it takes to keep the server busy: what becomes of those it admits,
// and how fast it refuses the others.
//
//   bench_overload [--seconds S] [--connections N] [--factor F] [--wait-ms MS] [--data DIR]
//                  [--smoke]
//
// The server runs as a child with one io thread, on a core of its own if there are two. Each buyer
// has a connection, claims a place and gives it back, and does so again at once. Three phases:
//   base      N connections (64), which are enough to keep one io thread busy, with nobody refused;
//   rude      F times as many (10), who ask again at once when they are refused;
//   polite    the same, who wait for Retry-After as they are told.
// One JSON line a phase. Exit 1 if anything but 201, 204, 429 or 503 was answered, if giving back
// was ever refused, or if a connection was lost. --wait-ms: config key http.overload_wait_ms.
// --smoke: a few connections and half a second, and no word on times.

#include "bench/command_line.hpp"
#include "bench/rush.hpp"

#include <holdfast/base/histogram.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <queue>
#include <stdexcept>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace holdfast;
using namespace holdfast::bench;
using SteadyClock = std::chrono::steady_clock;
using Moment = SteadyClock::time_point;

struct Arguments {
    double seconds{10};
    std::size_t connections{64};
    std::size_t factor{10};
    std::string wait_ms{"5"};
    std::filesystem::path data{std::filesystem::temp_directory_path()};
    bool smoke{};
};

std::optional<int> parse(Arguments& out, int count, char** words) {
    CLI::App app("Ten times as many buyers as keep the server busy.", "bench_overload");
    auto const be_small = [&out] {
        out.smoke = true;
        out.seconds = 0.5;
        out.connections = 4;
    };
    app.add_flag_callback("--smoke", be_small, "A moment, and no word on times");
    app.add_option("--seconds", out.seconds, "Of each phase")->check(CLI::PositiveNumber);
    app.add_option("--connections", out.connections, "That keep it busy")
        ->check(CLI::PositiveNumber);
    app.add_option("--factor", out.factor, "The crowd, in times of that")
        ->check(CLI::PositiveNumber);
    app.add_option("--wait-ms", out.wait_ms, "Config key http.overload_wait_ms");
    app.add_option("--data", out.data, "Where the scratch folder is made");
    return ending_of_parse(app, count, words);
}

struct Results {
    Histogram claims, ends, refusals;  // microseconds
    std::uint64_t wrong{};
    std::string first_wrong;
};

class Buyers {
public:
    Buyers(loadgen::Url const& server, std::size_t count, bool polite)
        : polite_(polite), epoll_(::epoll_create1(EPOLL_CLOEXEC)), buyers_(count) {
        for (std::size_t i = 0; i < count; ++i) {
            buyers_[i].fd = connect_to(server);
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.u64 = i;
            if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, buyers_[i].fd, &event) != 0)
                throw std::runtime_error("epoll_ctl");
        }
    }
    ~Buyers() {
        for (Buyer const& buyer : buyers_) ::close(buyer.fd);
        ::close(epoll_);
    }
    Buyers(Buyers const&) = delete;
    Buyers& operator=(Buyers const&) = delete;

    /// What is answered in the first fifth is not counted: the ladder needs its looks.
    Results run(double seconds) {
        Moment const began = SteadyClock::now();
        auto const length = std::chrono::duration_cast<SteadyClock::duration>(
            std::chrono::duration<double>(seconds));
        counted_from_ = began + length / 5;
        for (Buyer& buyer : buyers_) claim(buyer);
        while (SteadyClock::now() - began < length && results_.wrong == 0) step();
        return results_;
    }

private:
    struct Buyer {
        int fd{-1};
        bool gives_back{};
        Moment sent{};
        std::string in;
    };
    struct Later {
        Moment at;
        std::size_t buyer;
        bool operator<(Later const& other) const { return at > other.at; }
    };

    void send(Buyer& buyer, std::string const& request) {
        buyer.sent = SteadyClock::now();
        auto const sent = ::send(buyer.fd, request.data(), request.size(), MSG_NOSIGNAL);
        if (sent != static_cast<ssize_t>(request.size())) wrong("a request was not taken");
    }
    void claim(Buyer& buyer) {
        static std::string const request = claim_request("rush");
        buyer.gives_back = false;
        send(buyer, request);
    }
    void give_back(Buyer& buyer, std::string_view hold) {
        buyer.gives_back = true;
        send(buyer, "DELETE /v1/holds/" + loadgen::text_of(hold, "hold") +
                        " HTTP/1.1\r\nHost: t\r\nAuthorization: Hold " +
                        loadgen::text_of(hold, "token") + "\r\n\r\n");
    }
    void wrong(std::string what) {
        if (results_.wrong++ == 0) results_.first_wrong = std::move(what);
    }

    void step() {
        int timeout = 100;
        Moment const now = SteadyClock::now();
        while (!later_.empty() && later_.top().at <= now) {
            claim(buyers_[later_.top().buyer]);
            later_.pop();
        }
        if (!later_.empty()) {
            auto const left = later_.top().at - now;
            timeout = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
        }
        epoll_event events[256];
        int const count = ::epoll_wait(epoll_, events, 256, std::min(timeout, 100));
        for (int i = 0; i < count; ++i) receive(events[i].data.u64);
    }

    void receive(std::size_t number) {
        Buyer& buyer = buyers_[number];
        char bytes[8'192];
        auto const got = ::recv(buyer.fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got <= 0) return wrong("a connection was lost");
        buyer.in.append(bytes, static_cast<std::size_t>(got));
        auto const end = buyer.in.find("\r\n\r\n");
        if (end == buyer.in.npos) return;
        auto const label = buyer.in.find("Content-Length: ");
        std::size_t const length =
            label < end ? std::strtoul(buyer.in.c_str() + label + 16, nullptr, 10) : 0;
        if (buyer.in.size() < end + 4 + length) return;
        std::string const answer = std::exchange(buyer.in, {});
        answered(number, answer);
    }

    void answered(std::size_t number, std::string const& answer) {
        Buyer& buyer = buyers_[number];
        int const status = std::atoi(answer.c_str() + 9);
        Moment const now = SteadyClock::now();
        auto const took = static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::microseconds>(now - buyer.sent).count());
        bool const counted = now >= counted_from_;
        if (buyer.gives_back && status == 204) {
            if (counted) results_.ends.record(took);
            return claim(buyer);
        }
        if (!buyer.gives_back && status == 201) {
            if (counted) results_.claims.record(took);
            return give_back(buyer, answer);
        }
        bool const refused = !buyer.gives_back && (status == 429 || status == 503);
        auto const label = answer.find("Retry-After: ");
        if (!refused || label == answer.npos) return wrong(answer);
        if (counted) results_.refusals.record(took);
        if (!polite_) return claim(buyer);
        later_.push({now + std::chrono::seconds(std::atoi(answer.c_str() + label + 13)), number});
    }

    bool polite_;
    int epoll_;
    std::vector<Buyer> buyers_;
    std::priority_queue<Later> later_;
    Moment counted_from_{};
    Results results_;
};

std::size_t resident_kib(pid_t pid) {
    std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
    std::size_t pages = 0;
    statm >> pages >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1'024;
}

std::string times_of(Histogram const& of, double seconds) {
    auto const at = [&of](double share) { return std::to_string(of.percentile(share)); };
    return "{\"a_second\":" +
           std::to_string(static_cast<std::uint64_t>(static_cast<double>(of.count()) / seconds)) +
           ",\"p50_us\":" + at(0.5) + ",\"p99_us\":" + at(0.99) + ",\"p999_us\":" + at(0.999) +
           ",\"max_us\":" + std::to_string(of.max()) + "}";
}

int measure(Arguments const& arguments) {
    Rush rush(arguments.data, {"HOLDFAST_HTTP_OVERLOAD_WAIT_MS=" + arguments.wait_ms});
    struct Phase {
        char const* name;
        std::size_t connections;
        bool polite;
    };
    std::size_t const crowd = arguments.connections * arguments.factor;
    bool good = true;
    for (Phase const phase : {Phase{"base", arguments.connections, false},
                              Phase{"rude", crowd, false}, Phase{"polite", crowd, true}}) {
        Results const results =
            Buyers(rush.url(), phase.connections, phase.polite).run(arguments.seconds);
        double const counted = arguments.seconds * 4 / 5;
        std::printf(
            "{\"bench\":\"overload\",\"phase\":\"%s\",\"connections\":%zu,\"claims\":%s,"
            "\"ends\":%s,\"refusals\":%s,\"server_kib\":%zu}\n",
            phase.name, phase.connections, times_of(results.claims, counted).c_str(),
            times_of(results.ends, counted).c_str(), times_of(results.refusals, counted).c_str(),
            resident_kib(rush.server().pid()));
        std::fflush(stdout);
        if (results.wrong != 0) {
            std::fprintf(stderr, "%s: %s\n", phase.name, results.first_wrong.c_str());
            good = false;
        }
        good = good && results.claims.count() > 0 && !rush.server().ended();
    }
    return good ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
    try {
        Arguments arguments;
        if (auto const code = parse(arguments, count, words)) return *code;
        return measure(arguments);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "bench_overload: %s\n", error.what());
        return 1;
    }
}
