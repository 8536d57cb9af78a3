#include "tests/support/mounts.hpp"

#include "tests/support/child.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fstream>
#include <linux/btrfs.h>
#include <sched.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

// Of the kernel's ext4; not in its headers for programs before 6.x. Flag 2: without the file
// system's own log, so nothing unsynced is saved.
constexpr unsigned long ext4_shutdown = _IOR('X', 125, std::uint32_t);
constexpr std::uint32_t no_log_flush = 2;

[[noreturn]] void give_up(std::string const& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

std::string tool(char const* name) {
    for (char const* const folder : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"}) {
        if (::access((std::string(folder) + name).c_str(), X_OK) == 0)
            return std::string(folder) + name;
    }
    return {};
}

void run_tool(std::vector<std::string> words) {
    words.front() = tool(words.front().c_str());
    auto const done = run(words);
    if (done.exit_code != 0) throw std::runtime_error(words.front() + ": " + done.errors);
}

void make_image(std::filesystem::path const& image, std::uint64_t bytes) {
    int const fd = ::open(image.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) give_up("image");
    int const sized = ::ftruncate(fd, static_cast<off_t>(bytes));
    ::close(fd);
    if (sized != 0) give_up("size of the image");
}

template <class Argument>
void ask(std::filesystem::path const& folder, unsigned long what, Argument* argument) {
    int const fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) give_up("folder of the file system");
    int const done = ::ioctl(fd, what, argument);
    ::close(fd);
    if (done != 0) give_up("quota of the file system");
}

}  // namespace

std::string why_no_own_mounts() {
    if (::geteuid() != 0) return "needs root";
    if (tool("mkfs.ext4").empty() || tool("mount").empty()) return "no mkfs.ext4 or mount";
    if (::access("/dev/loop-control", R_OK | W_OK) != 0) return "no loop devices";
    if (::unshare(CLONE_NEWNS) != 0) return "no mount namespace";
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return "mounts are shared";
    return {};
}

Tmpfs::Tmpfs(std::filesystem::path folder, std::uint64_t bytes) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    std::string const size = "size=" + std::to_string(bytes);
    if (::mount("tmpfs", folder_.c_str(), "tmpfs", 0, size.c_str()) != 0) give_up("mount tmpfs");
}

Tmpfs::~Tmpfs() {
    ::umount2(folder_.c_str(), MNT_DETACH);
}

Ext4::Ext4(std::filesystem::path image, std::filesystem::path folder, std::uint64_t bytes)
    : image_(std::move(image)), folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    make_image(image_, bytes);
    run_tool({"mkfs.ext4", "-q", "-F", image_.string()});
    mount();
}

Ext4::~Ext4() {
    ::umount2(folder_.c_str(), MNT_DETACH);
}

void Ext4::mount() const {
    run_tool({"mount", "-o", "loop", image_.string(), folder_.string()});
}

void Ext4::cut_power() const {
    int const fd = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) give_up("folder of the file system");
    std::uint32_t flags = no_log_flush;
    int const done = ::ioctl(fd, ext4_shutdown, &flags);
    ::close(fd);
    if (done != 0) give_up("shutdown of the file system");
}

void Ext4::mount_again() const {
    // The kernel may hold the mount for a moment after its last process is gone.
    auto const deadline = std::chrono::steady_clock::now() + 10s;
    while (::umount2(folder_.c_str(), 0) != 0) {
        if (errno != EBUSY || std::chrono::steady_clock::now() > deadline) give_up("umount");
        std::this_thread::yield();
    }
    mount();
}

std::string QuotaDisk::why_not() {
    if (tool("mkfs.btrfs").empty()) return "no mkfs.btrfs (package btrfs-progs)";
    std::ifstream known("/proc/filesystems");
    for (std::string word; known >> word;)
        if (word == "btrfs") return why_no_own_mounts();
    return "the kernel has no btrfs";
}

QuotaDisk::QuotaDisk(std::filesystem::path image, std::filesystem::path folder, std::uint64_t bytes)
    : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    make_image(image, bytes);
    run_tool({"mkfs.btrfs", "-q", image.string()});
    run_tool({"mount", "-o", "loop", image.string(), folder_.string()});
    btrfs_ioctl_quota_ctl_args enable{};
    enable.cmd = BTRFS_QUOTA_CTL_ENABLE;
    ask(folder_, BTRFS_IOC_QUOTA_CTL, &enable);
    ask(folder_, BTRFS_IOC_QUOTA_RESCAN_WAIT, static_cast<void*>(nullptr));
}

QuotaDisk::~QuotaDisk() {
    ::umount2(folder_.c_str(), MNT_DETACH);
}

void QuotaDisk::limit(std::uint64_t bytes) const {
    btrfs_ioctl_qgroup_limit_args limit{};  // of the folder's own group
    limit.lim.flags = BTRFS_QGROUP_LIMIT_MAX_RFER;
    limit.lim.max_rfer = bytes;
    ask(folder_, BTRFS_IOC_QGROUP_LIMIT, &limit);
}

void QuotaDisk::lift() const {
    btrfs_ioctl_quota_ctl_args disable{};
    disable.cmd = BTRFS_QUOTA_CTL_DISABLE;
    ask(folder_, BTRFS_IOC_QUOTA_CTL, &disable);
}

}  // namespace holdfast::test
