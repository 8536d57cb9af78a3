#include "tests/support/memory_group.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

namespace holdfast::test {
namespace {

/// Where a hierarchy is mounted; `unified`: that of v2, else the memory controller's own.
std::string mount_of(bool unified) {
    std::ifstream mounts("/proc/mounts");
    std::string line;
    while (std::getline(mounts, line)) {
        std::istringstream words(line);
        std::string device, folder, type, options;
        words >> device >> folder >> type >> options;
        bool const memory = (',' + options + ',').find(",memory,") != std::string::npos;
        if (unified ? type == "cgroup2" : type == "cgroup" && memory) return folder;
    }
    return {};
}

/// The test's own group in it.
std::string own_group(bool unified) {
    std::ifstream groups("/proc/self/cgroup");  // NUMBER:CONTROLLERS:PATH
    std::string line;
    while (std::getline(groups, line)) {
        auto const first = line.find(':');
        auto const second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        std::string const controllers = line.substr(first + 1, second - first - 1);
        if (unified ? controllers.empty() : controllers == "memory") return line.substr(second + 1);
    }
    return {};
}

}  // namespace

MemoryGroup::MemoryGroup() {
    why_not_ = "needs root";
    if (::geteuid() != 0) return;
    why_not_ = "no memory cgroup of its own";
    for (bool const unified : {false, true}) {
        std::string const mount = mount_of(unified);
        std::string const own = own_group(unified);
        unified_ = unified;
        if (mount.empty() || own.empty() || !make(mount + own)) continue;
        why_not_.clear();
        return;
    }
}

bool MemoryGroup::make(std::filesystem::path const& parent) {
    auto const folder = parent / ("holdfast-test-" + std::to_string(::getpid()));
    std::error_code failed;
    if (!std::filesystem::create_directory(folder, failed) || failed) return false;
    folder_ = folder;
    if (std::filesystem::exists(folder / (unified_ ? "memory.max" : "memory.limit_in_bytes"))) {
        // What is over the limit is to end the process, not to be swapped out.
        std::string const swap = unified_ ? "memory.swap.max" : "memory.swappiness";
        if (std::filesystem::exists(folder / swap)) write(swap.c_str(), "0");
        return true;
    }
    ::rmdir(folder.c_str());
    folder_.clear();
    return false;
}

MemoryGroup::~MemoryGroup() {
    if (!folder_.empty()) ::rmdir(folder_.c_str());
}

void MemoryGroup::take_in(pid_t process) const {
    write("cgroup.procs", std::to_string(process));
}

void MemoryGroup::allow_only(std::uint64_t more) const {
    std::uint64_t const used =
        std::stoull(read(unified_ ? "memory.current" : "memory.usage_in_bytes"));
    write(unified_ ? "memory.max" : "memory.limit_in_bytes", std::to_string(used + more));
}

long MemoryGroup::kills() const {
    std::istringstream words(read(unified_ ? "memory.events" : "memory.oom_control"));
    std::string name;
    long number{};
    while (words >> name >> number)
        if (name == "oom_kill") return number;
    return 0;
}

void MemoryGroup::write(char const* file, std::string const& text) const {
    std::ofstream out(folder_ / file);
    out << text << std::flush;
    if (!out) throw std::runtime_error(std::string(file) + " of the memory group takes no " + text);
}

std::string MemoryGroup::read(char const* file) const {
    std::ifstream in(folder_ / file);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace holdfast::test
