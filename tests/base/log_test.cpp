#include "tests/support/temp_folder.hpp"

#include <holdfast/base/log.hpp>
#include <holdfast/base/log_text.hpp>
#include <holdfast/base/published.hpp>

#include <boost/json/src.hpp>
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace holdfast;

namespace {

std::vector<std::string> lines_of(std::filesystem::path const& file) {
    std::ifstream stream(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string text_of(std::string_view input) {
    std::string out;
    log::append_json_text(out, input);
    return out;
}

/// A log that nobody takes anything from, until it is drained: a disk that hangs.
class FullPipe {
public:
    FullPipe() : file_(folder_.path() / "log") {
        REQUIRE(::mkfifo(file_.c_str(), 0600) == 0);
        end_ = ::open(file_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        REQUIRE(end_ >= 0);
        log::start({.level = log::Level::info, .file = file_.string()});
        // More than a pipe takes; each text is another one, so that none is too many.
        for (int line = 0; line < 5'000; ++line) log::info(std::to_string(line));
        // A pipe is full before it has this much, so the log's thread waits by then.
        int waiting = 0;
        while (waiting < 32'768) REQUIRE(::ioctl(end_, FIONREAD, &waiting) == 0);
    }
    ~FullPipe() {
        drain();
        log::stop();
        done_.set(true);
        drain_.join();
        ::close(end_);
    }
    void drain() {
        if (drain_.joinable()) return;
        drain_ = std::thread([this] {
            char bytes[65'536];
            while (::read(end_, bytes, sizeof bytes) > 0 || !done_.get()) std::this_thread::yield();
        });
    }

private:
    test::TempFolder folder_;
    std::filesystem::path file_;
    int end_{-1};
    std::thread drain_;
    Published<bool> done_{false};
};

}  // namespace

TEST_CASE("hostile text becomes one harmless JSON string", "[base][log]") {
    auto const [input, expected] = GENERATE(table<std::string, std::string>({
        {"plain", R"("plain")"},
        {"say \"hi\" \\", R"("say \"hi\" \\")"},
        {"\x1b[2J", R"("\u001b[2J")"},
        {"a\r\nb\tc", R"("a\u000d\u000ab\u0009c")"},
        {std::string("nul\0end", 7), R"("nul\u0000end")"},
        {"\x7f", R"("\u007f")"},
        {"line\u2028\u2029", R"("line\u2028\u2029")"},
        {"turn\u202eround", R"("turn\u202eround")"},
        {"\u200b\ufeff", R"("\u200b\ufeff")"},
        {"\U000E0041", R"("\udb40\udc41")"},
        {"\u009b", R"("\u009b")"},
        {"\xff\xfe", R"("\ufffd\ufffd")"},
        {"\xc0\xaf", R"("\ufffd\ufffd")"},            // overlong
        {"\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},  // a surrogate
        {"\xf5\x80\x80\x80", R"("\ufffd\ufffd\ufffd\ufffd")"},
        {"cut \xe2\x82", R"("cut \ufffd\ufffd")"},
        {"Grüße €", "\"Grüße €\""},
    }));
    CHECK(text_of(input) == expected);
}

TEST_CASE("a field is cut at 256 bytes and never inside a character", "[base][log]") {
    CHECK(text_of(std::string(256, 'x')) == '"' + std::string(256, 'x') + '"');
    CHECK(text_of(std::string(300, 'x')) == '"' + std::string(256, 'x') + "...\"");
    CHECK(text_of(std::string(255, 'x') + "€uro") == '"' + std::string(255, 'x') + "...\"");
}

TEST_CASE("every line of the log is one JSON object, whatever it says", "[base][log]") {
    test::TempFolder const folder;
    auto const file = folder.path() / "log";
    std::vector<std::string> const hostile{"\x1b[31m",
                                           "two\nlines",
                                           "\u2028",
                                           "\"}\n{\"level\":\"error",
                                           "\xff\xc3",
                                           std::string(300, 'x'),
                                           std::string(300, '\x01')};
    log::start({.level = log::Level::debug, .file = file.string()});
    for (std::string const& text : hostile) {
        log::warn(text, {{"text", text}, {text, -5}, {"flag", true}});
    }
    log::write(log::Level::debug, "plain");
    log::stop();
    auto const lines = lines_of(file);
    REQUIRE(lines.size() == hostile.size() + 1);
    for (std::size_t index = 0; index < hostile.size(); ++index) {
        CAPTURE(lines[index]);
        boost::system::error_code error;
        auto const value = boost::json::parse(lines[index], error);
        REQUIRE_FALSE(error);
        auto const& object = value.as_object();
        CHECK(object.at("level").as_string() == "warn");
        CHECK(object.at("time").as_string().size() ==
              std::string_view("2027-05-01T20:00:00.000Z").size());
        CHECK(object.at("flag").as_bool());
        CHECK(object.at("text") == object.at("message"));
        bool const printable = lines[index].find_first_of("\x1b\x01\xff") == std::string::npos;
        CHECK(printable);
    }
    CHECK(boost::json::parse(lines.back()).at("level").as_string() == "debug");
}

TEST_CASE("lines below the level are not written", "[base][log]") {
    test::TempFolder const folder;
    auto const file = folder.path() / "log";
    log::start({.level = log::Level::warn, .file = file.string()});
    log::info("quiet");
    log::error("loud");
    log::stop();
    auto const lines = lines_of(file);
    REQUIRE(lines.size() == 1);
    CHECK(boost::json::parse(lines[0]).at("message").as_string() == "loud");
}

TEST_CASE("after reopen new lines go to a new file", "[base][log]") {
    test::TempFolder const folder;
    auto const file = folder.path() / "log";
    auto const old = folder.path() / "log.1";
    log::start({.level = log::Level::info, .file = file.string()});
    log::info("before");
    log::stop();
    log::start({.level = log::Level::info, .file = file.string()});
    std::filesystem::rename(file, old);
    log::reopen();
    log::info("after");
    log::stop();
    REQUIRE(lines_of(old).size() == 1);
    REQUIRE(lines_of(file).size() == 1);
    CHECK(boost::json::parse(lines_of(file)[0]).at("message").as_string() == "after");
}

TEST_CASE("a log file that cannot be made is refused with its name", "[base][log]") {
    test::TempFolder const folder;
    std::string const file = (folder.path() / "missing" / "log").string();
    CHECK_THROWS_WITH(log::start({.level = log::Level::info, .file = file}), Catch::Contains(file));
    CHECK_NOTHROW(log::reopen());  // nothing was started
}

TEST_CASE("a flood of one message is thinned and counted, others pass", "[base][log]") {
    test::TempFolder const folder;
    auto const file = folder.path() / "log";
    std::uint64_t const dropped_before = log::dropped();
    log::start({.level = log::Level::info, .file = file.string()});
    std::size_t const floods = 20'000;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([] {
            for (std::size_t round = 0; round < floods / 4; ++round) log::info("flood");
        });
    }
    for (std::thread& thread : threads) thread.join();
    log::info("other");
    log::stop();
    auto const lines = lines_of(file);
    CHECK(lines.size() < floods);
    CHECK(lines.size() - 1 + (log::dropped() - dropped_before) == floods);
    CHECK(boost::json::parse(lines.back()).at("message").as_string() == "other");
}

TEST_CASE("a log whose disk hangs keeps nobody", "[base][log]") {
    FullPipe pipe;
    auto reopened = std::async(std::launch::async, [] { log::reopen(); });
    auto counted = std::async(std::launch::async, [] {
        log::info("another line");
        return log::dropped();
    });
    CHECK(counted.wait_for(std::chrono::seconds{20}) == std::future_status::ready);
    CHECK(reopened.wait_for(std::chrono::seconds{20}) == std::future_status::ready);
    pipe.drain();
    reopened.wait();
    counted.wait();
}
