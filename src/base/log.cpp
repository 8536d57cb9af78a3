#include <holdfast/base/descriptor.hpp>
#include <holdfast/base/log.hpp>
#include <holdfast/base/log_text.hpp>
#include <holdfast/base/published.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <pthread.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/base_sink.h>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace holdfast::log {
namespace {

constexpr std::size_t queue_lines_max = 8'192;
/// Of one message text; a flood of one kind must not push out the others.
constexpr std::uint32_t lines_per_second_max = 200;

spdlog::level::level_enum to_spdlog(Level level) noexcept {
    switch (level) {
        case Level::debug:
            return spdlog::level::debug;
        case Level::info:
            return spdlog::level::info;
        case Level::warn:
            return spdlog::level::warn;
        case Level::error:
            return spdlog::level::err;
    }
    return spdlog::level::err;
}

std::string_view name_of(spdlog::level::level_enum level) noexcept {
    switch (level) {
        case spdlog::level::debug:
            return "debug";
        case spdlog::level::info:
            return "info";
        case spdlog::level::warn:
            return "warn";
        default:
            return "error";
    }
}

/// `{"time":…,"level":…,` + the payload, which write() has made, + `}`.
class JsonFormatter final : public spdlog::formatter {
public:
    void format(spdlog::details::log_msg const& line, spdlog::memory_buf_t& out) override {
        using std::chrono::duration_cast;
        auto const since_1970 = line.time.time_since_epoch();
        auto const ms = duration_cast<std::chrono::milliseconds>(since_1970).count();
        std::time_t const seconds = static_cast<std::time_t>(ms / 1'000);
        std::tm parts{};
        gmtime_r(&seconds, &parts);
        std::array<char, 32> stamp{};
        std::strftime(stamp.data(), stamp.size(), "%Y-%m-%dT%H:%M:%S", &parts);
        fmt::format_to(std::back_inserter(out), "{{\"time\":\"{}.{:03}Z\",\"level\":\"{}\",",
                       stamp.data(), ms % 1'000, name_of(line.level));
        out.append(line.payload.data(), line.payload.data() + line.payload.size());
        out.push_back('}');
        out.push_back('\n');
    }
    [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<JsonFormatter>();
    }
};

Descriptor open_file(std::string const& file) {
    Descriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
    if (!fd.is_open()) throw std::system_error(errno, std::generic_category(), "log file " + file);
    return fd;
}

/// Appends to a file or to standard error. A line that cannot be written is counted, nothing more:
/// the log must never stop the sale.
class LineSink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    explicit LineSink(std::string file)
        : file_(std::move(file)), opened_(file_.empty() ? Descriptor{} : open_file(file_)) {
        set_formatter(std::make_unique<JsonFormatter>());
    }

    /// The next line goes to a new file. Throws and keeps the old one if that cannot be opened.
    /// Never waits for a write that is under way.
    void reopen() {
        if (file_.empty()) return;
        Descriptor fresh = open_file(file_);
        std::lock_guard const lock(next_mutex_);
        next_ = std::move(fresh);
    }
    /// Never waits for a write that is under way.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.get(); }

protected:
    void sink_it_(spdlog::details::log_msg const& line) override {
        take_next_file();
        try {
            spdlog::memory_buf_t text;
            formatter_->format(line, text);
            if (!write_all(text.data(), text.size())) lose();
        } catch (std::bad_alloc const&) {
            lose();
        }
    }
    void flush_() override {}

private:
    bool write_all(char const* data, std::size_t size) const noexcept {
        int const fd = opened_.is_open() ? opened_.get() : STDERR_FILENO;
        while (size > 0) {
            ssize_t const written = ::write(fd, data, size);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return false;
            data += written;
            size -= static_cast<std::size_t>(written);
        }
        return true;
    }
    void lose() noexcept { lost_.set(lost_.get() + 1); }
    void take_next_file() noexcept {
        std::lock_guard const lock(next_mutex_);
        if (next_.is_open()) opened_ = std::move(next_);
    }

    std::string file_;
    Descriptor opened_;  // of the writing thread; none: standard error
    std::mutex next_mutex_;
    Descriptor next_;                  // under next_mutex_
    Published<std::uint64_t> lost_{};  // set by the writing thread
};

/// Counts the lines of each message text in the running second.
class RateLimit {
public:
    [[nodiscard]] bool allow(std::string_view message) {
        using std::chrono::floor;
        auto const second =
            floor<std::chrono::seconds>(spdlog::log_clock::now()).time_since_epoch().count();
        Bucket& bucket = buckets_[std::hash<std::string_view>{}(message) % buckets_.size()];
        if (bucket.second != second) bucket = {second, 0};
        return ++bucket.lines <= lines_per_second_max;
    }

private:
    struct Bucket {
        std::int64_t second{};
        std::uint32_t lines{};
    };
    std::array<Bucket, 256> buckets_{};
};

struct Running {
    explicit Running(Options const& options)
        : sink(std::make_shared<LineSink>(options.file)),
          pool(std::make_shared<spdlog::details::thread_pool>(
              queue_lines_max, 1, [] { pthread_setname_np(pthread_self(), "log"); })),
          logger(std::make_shared<spdlog::async_logger>(
              "holdfast", sink, pool, spdlog::async_overflow_policy::overrun_oldest)) {
        logger->set_level(to_spdlog(options.level));
    }
    std::shared_ptr<LineSink> sink;
    std::shared_ptr<spdlog::details::thread_pool> pool;  // its destructor writes what is queued
    std::shared_ptr<spdlog::async_logger> logger;
};

struct Log {
    std::mutex mutex;
    std::unique_ptr<Running> running;
    RateLimit rate;
    std::uint64_t refused{};         // by the rate
    std::uint64_t dropped_before{};  // by logs that were stopped
};

/// In place, so that a first line needs no memory, and never destroyed: threads may write until the
/// process ends.
Log& the_log() noexcept {
    union Kept {
        Kept() noexcept : log{} {}
        ~Kept() {}
        Log log;
    };
    static Kept kept;
    return kept.log;
}

std::uint64_t dropped_by(Running& running) {
    return running.pool->overrun_counter() + running.sink->lost();
}

/// Empty if there is no memory: a line has what could be said, for no log is worth an exception.
template <class Append>
std::string member_text(std::string_view name, Append append_value) noexcept {
    try {
        std::string json;
        append_json_text(json, name);
        json += ':';
        append_value(json);
        return json;
    } catch (std::bad_alloc const&) {
        return {};
    }
}

/// Nothing if there is no memory.
std::optional<std::string> line_text(std::string_view message,
                                     std::initializer_list<Value> values) noexcept {
    try {
        std::string text = "\"message\":";
        append_json_text(text, message);
        for (Value const& value : values) {
            if (value.json.empty()) continue;
            text += ',';
            text += value.json;
        }
        return text;
    } catch (std::bad_alloc const&) {
        return std::nullopt;
    }
}

/// False: it is not written.
bool write_line(Log& log, Level level, std::string_view message, std::string_view text) {
    if (log.running) {
        auto& logger = *log.running->logger;
        if (!logger.should_log(to_spdlog(level))) return true;
        if (!log.rate.allow(message)) return false;
        logger.log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
        return true;
    }
    spdlog::memory_buf_t line;
    JsonFormatter().format(
        spdlog::details::log_msg("holdfast", to_spdlog(level),
                                 spdlog::string_view_t(text.data(), text.size())),
        line);
    return ::write(STDERR_FILENO, line.data(), line.size()) >= 0;
}

}  // namespace

Value::Value(std::string_view name, std::string_view text) noexcept
    : json(member_text(name, [&](std::string& out) { append_json_text(out, text); })) {}

Value::Value(std::string_view name, std::int64_t number) noexcept
    : json(member_text(name, [&](std::string& out) { out += std::to_string(number); })) {}

Value::Value(std::string_view name, Flag flag) noexcept
    : json(member_text(name,
                       [&](std::string& out) { out += flag == Flag::yes ? "true" : "false"; })) {}

void start(Options const& options) {
    auto running = std::make_unique<Running>(options);
    Log& log = the_log();
    std::lock_guard const lock(log.mutex);
    log.running = std::move(running);
}

void stop() {
    Log& log = the_log();
    std::lock_guard const lock(log.mutex);
    if (!log.running) return;
    auto const sink = log.running->sink;
    log.dropped_before += log.running->pool->overrun_counter();
    log.running.reset();
    log.dropped_before += sink->lost();
}

void reopen() {
    std::shared_ptr<LineSink> sink;
    {
        Log& log = the_log();
        std::lock_guard const lock(log.mutex);
        if (log.running) sink = log.running->sink;
    }
    // A disk that hangs must not keep those that write lines.
    if (sink) sink->reopen();
}

void write(Level level, std::string_view message, std::initializer_list<Value> values) noexcept {
    auto const text = line_text(message, values);  // before the lock: others log meanwhile
    Log& log = the_log();
    std::lock_guard const lock(log.mutex);
    try {
        if (!text || !write_line(log, level, message, *text)) ++log.refused;
    } catch (std::bad_alloc const&) {
        ++log.refused;
    }
}

std::uint64_t dropped() noexcept {
    Log& log = the_log();
    std::lock_guard const lock(log.mutex);
    std::uint64_t const now = log.running ? dropped_by(*log.running) : 0;
    return log.refused + log.dropped_before + now;
}

}  // namespace holdfast::log
