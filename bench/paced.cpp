// Durable claims at a given rate: how long one takes from the moment it was due.
//
//   bench_paced [--rate CLAIMS_A_SECOND] [--seconds S] [--connections N] [--seed N]
//               [--url http://HOST:PORT --event EVENT] [--data DIR] [--smoke]
//
// Claims come as from many buyers who know nothing of each other (gaps of an exponential
// distribution). Each goes out on the connection that is free for longest, or waits for one; what
// it waits is part of its time, so a server that stands still is not asked less often. This program
// never sleeps: it has a core for itself, and a few microseconds are all it adds.
// Without --url the server is its own, on the other core, and has 2,000,000 places. One JSON line;
// exit 1 if an answer was not 201. --smoke: a moment, and no word on times.

#include "bench/command_line.hpp"
#include "bench/rush.hpp"

#include <holdfast/base/histogram.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
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
    double rate{20'000};
    double seconds{5};
    std::size_t connections{256};
    std::uint64_t seed{1};
    std::string url, event{"rush"};
    std::filesystem::path data{std::filesystem::temp_directory_path()};
};

std::optional<int> parse(Arguments& out, int count, char** words) {
    CLI::App app("Durable claims at a given rate.", "bench_paced");
    auto const be_small = [&out] {
        out.rate = 500;
        out.seconds = 0.5;
        out.connections = 4;
    };
    app.add_flag_callback("--smoke", be_small, "A moment, and no word on times");
    app.add_option("--rate", out.rate, "Claims a second")->check(CLI::PositiveNumber);
    app.add_option("--seconds", out.seconds, "How long")->check(CLI::PositiveNumber);
    app.add_option("--connections", out.connections, "At most")->check(CLI::PositiveNumber);
    app.add_option("--seed", out.seed, "Of the gaps");
    app.add_option("--url", out.url, "http://HOST:PORT of a server; else an own one");
    app.add_option("--event", out.event, "Its event");
    app.add_option("--data", out.data, "Where the scratch folder is made");
    return ending_of_parse(app, count, words);
}

SteadyClock::duration seconds(double count) {
    return std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(count));
}

class Buyers {
public:
    Buyers(loadgen::Url const& server, Arguments const& arguments)
        : request_(claim_request(arguments.event)),
          random_(arguments.seed),
          rate_(arguments.rate),
          set_(::epoll_create1(EPOLL_CLOEXEC)),
          buyers_(arguments.connections) {
        for (Buyer& buyer : buyers_) {
            buyer.socket = connect_to(server);
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.ptr = &buyer;
            if (::epoll_ctl(set_, EPOLL_CTL_ADD, buyer.socket, &event) != 0)
                throw std::runtime_error("epoll_ctl");
            free_.push_back(&buyer);
        }
    }
    ~Buyers() {
        for (Buyer const& buyer : buyers_) ::close(buyer.socket);
        ::close(set_);
    }
    Buyers(Buyers const&) = delete;
    Buyers& operator=(Buyers const&) = delete;

    /// Claims that are due in the first fifth are not counted.
    void run(double length) {
        Moment const began = SteadyClock::now();
        Moment const end = began + seconds(length);
        counted_from_ = began + seconds(length / 5);
        next_ = began;
        for (Moment now = began; now < end; now = SteadyClock::now()) {
            for (; next_ <= now; next_ += gap()) due_.push_back(next_);
            while (!due_.empty() && !free_.empty()) send_next();
            receive();
        }
        // Those that are due are sent and awaited, so that no slow one is left out.
        Moment const patience = end + std::chrono::seconds{10};
        while (!due_.empty() || free_.size() < buyers_.size()) {
            if (SteadyClock::now() > patience) throw std::runtime_error("answers are missing");
            while (!due_.empty() && !free_.empty()) send_next();
            receive();
        }
    }
    [[nodiscard]] Histogram const& times() const noexcept { return times_; }
    /// Of an answer that was no 201.
    [[nodiscard]] std::string const& wrong() const noexcept { return wrong_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

private:
    struct Buyer {
        int socket{-1};
        bool waits{};
        Moment due{};
    };

    SteadyClock::duration gap() {
        // Not std::exponential_distribution: the same seed is the same load with any library.
        double const part = static_cast<double>(random_() >> 11U) * 0x1p-53;
        return seconds(-std::log1p(-part) / rate_);
    }
    void send_next() {
        Buyer& buyer = *free_.front();
        free_.pop_front();
        buyer.waits = true;
        buyer.due = due_.front();
        due_.pop_front();
        auto const sent = ::send(buyer.socket, request_.data(), request_.size(), MSG_NOSIGNAL);
        if (sent != static_cast<ssize_t>(request_.size()))
            throw std::runtime_error("a request was not taken");
    }
    void receive() {
        epoll_event events[64];
        int const count = ::epoll_wait(set_, events, 64, 0);
        for (int i = 0; i < count; ++i) {
            auto& buyer = *static_cast<Buyer*>(events[i].data.ptr);
            char bytes[4'096];  // an answer comes whole: it is one write of a few hundred bytes
            // A second piece would free its buyer twice.
            if (!std::exchange(buyer.waits, false)) throw std::runtime_error("an answer in pieces");
            auto const got = ::recv(buyer.socket, bytes, sizeof bytes, MSG_DONTWAIT);
            if (got <= 0) throw std::runtime_error("a connection was lost");
            std::string_view const answer(bytes, static_cast<std::size_t>(got));
            if (!answer.starts_with("HTTP/1.1 201 ") && refused_++ == 0) wrong_ = answer;
            using Micros = std::chrono::microseconds;
            auto const took = std::chrono::duration_cast<Micros>(SteadyClock::now() - buyer.due);
            if (buyer.due >= counted_from_) times_.record(static_cast<std::uint64_t>(took.count()));
            free_.push_back(&buyer);
        }
    }

    std::string request_;
    std::mt19937_64 random_;
    double rate_;
    int set_;
    std::vector<Buyer> buyers_;
    std::deque<Buyer*> free_;
    std::deque<Moment> due_;
    Moment next_{}, counted_from_{};
    Histogram times_;
    std::string wrong_;
    std::uint64_t refused_{};
};

int measure(Arguments const& arguments) {
    std::optional<Rush> own;
    if (arguments.url.empty())
        own.emplace(arguments.data, std::vector<std::string>{}, 2'000'000);
    else
        run_on(1);
    auto const url = own ? own->url() : loadgen::parse_url(arguments.url);
    if (!url) throw std::runtime_error(url.error().text);
    Buyers buyers(*url, arguments);
    buyers.run(arguments.seconds);
    Histogram const& times = buyers.times();
    auto const at = [&times](double share) {
        return static_cast<unsigned long long>(times.percentile(share));
    };
    std::printf(
        "{\"bench\":\"paced\",\"seed\":%llu,\"claims\":%llu,\"claims_per_s\":%.0f,"
        "\"refused\":%llu,\"p50_us\":%llu,\"p90_us\":%llu,\"p99_us\":%llu,"
        "\"p999_us\":%llu,\"max_us\":%llu}\n",
        static_cast<unsigned long long>(arguments.seed),
        static_cast<unsigned long long>(times.count()),
        static_cast<double>(times.count()) / (arguments.seconds * 4 / 5),
        static_cast<unsigned long long>(buyers.refused()), at(0.5), at(0.9), at(0.99), at(0.999),
        static_cast<unsigned long long>(times.max()));
    if (buyers.refused() != 0) std::fprintf(stderr, "%s\n", buyers.wrong().c_str());
    return buyers.refused() == 0 && times.count() > 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
    try {
        Arguments arguments;
        if (auto const code = parse(arguments, count, words)) return *code;
        return measure(arguments);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "bench_paced: %s\n", error.what());
        return 1;
    }
}
