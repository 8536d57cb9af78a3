#include "api/json_writer.hpp"
#include "api/metrics.hpp"

#include <charconv>
#include <ctime>
#include <dirent.h>
#include <fstream>
#include <memory>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace holdfast::api {
namespace {

/// Fields of /proc/self/stat from the third on, as proc(5) numbers them; empty without /proc.
std::vector<std::string> stat_fields() {
    std::ifstream file("/proc/self/stat");
    std::string const text((std::istreambuf_iterator<char>(file)), {});
    // The second field is the program's name in parentheses, which may hold anything.
    std::size_t const name_end = text.rfind(')');
    if (name_end == std::string::npos) return {};
    std::istringstream rest(text.substr(name_end + 1));
    std::vector<std::string> fields;
    for (std::string field; rest >> field;) fields.push_back(field);
    return fields;
}

std::uint64_t number_of(std::vector<std::string> const& fields, std::size_t number) {
    std::uint64_t value = 0;
    if (number < 3 || number - 3 >= fields.size()) return value;
    std::string const& text = fields[number - 3];
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::uint64_t open_descriptors() {
    std::unique_ptr<DIR, int (*)(DIR*)> const folder(::opendir("/proc/self/fd"), &::closedir);
    if (folder == nullptr) return 0;
    std::uint64_t count = 0;
    while (::readdir(folder.get()) != nullptr) ++count;
    return count < 3 ? 0 : count - 3;  // ".", ".." and the folder itself
}

void append_seconds(std::string& out, std::string_view name, std::uint64_t ticks,
                    std::uint64_t ticks_per_second) {
    out.append(name).append(" ");
    append_integer(out, static_cast<std::int64_t>(ticks / ticks_per_second));
    out += '.';
    std::uint64_t const hundredths = ticks % ticks_per_second * 100 / ticks_per_second;
    out += static_cast<char>('0' + hundredths / 10);
    out += static_cast<char>('0' + hundredths % 10);
    out += '\n';
}

/// Seconds since 1970 at which the machine started, as the kernel says.
std::uint64_t boot_time() {
    std::ifstream file("/proc/stat");
    for (std::string word; file >> word;) {
        std::uint64_t seconds = 0;
        if (word == "btime" && file >> seconds) return seconds;
    }
    return 0;
}

}  // namespace

void append_process_metrics(std::string& out) {
    auto const fields = stat_fields();
    auto const ticks_per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    auto const page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    append_family(out, "process_cpu_seconds_total", "counter", "User and system time.");
    append_seconds(out, "process_cpu_seconds_total", number_of(fields, 14) + number_of(fields, 15),
                   ticks_per_second);
    append_family(out, "process_start_time_seconds", "gauge", "Start, seconds since 1970.");
    append_seconds(out, "process_start_time_seconds",
                   boot_time() * ticks_per_second + number_of(fields, 22), ticks_per_second);
    append_family(out, "process_threads", "gauge", "Threads.");
    append_sample(out, "process_threads", number_of(fields, 20));
    append_family(out, "process_virtual_memory_bytes", "gauge", "Address space.");
    append_sample(out, "process_virtual_memory_bytes", number_of(fields, 23));
    append_family(out, "process_resident_memory_bytes", "gauge", "Memory in use.");
    append_sample(out, "process_resident_memory_bytes", number_of(fields, 24) * page_bytes);
    append_family(out, "process_open_fds", "gauge", "Open file descriptors.");
    append_sample(out, "process_open_fds", open_descriptors());
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    append_family(out, "process_max_fds", "gauge", "Most file descriptors allowed.");
    append_sample(out, "process_max_fds", limit.rlim_cur);
}

}  // namespace holdfast::api
