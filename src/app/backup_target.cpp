#include "app/backup_target.hpp"

#include "app/exit_codes.hpp"
#include "app/manifest.hpp"

#include <holdfast/journal/disk.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace holdfast::app {
namespace {

using journal::Failure;
namespace fs = std::filesystem;

Failure no_target(fs::path const& place, std::string const& why) {
    return {exit_failed, place.string() + ": " + why};
}

std::string because(char const* what) {
    return std::string(what) + ": " + std::strerror(errno);
}

/// Whether `inner` is `outer` or lies in it; both are absolute and without links.
bool lies_in(fs::path const& inner, fs::path const& outer) {
    auto const [end, rest] = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
    return end == outer.end();
}

std::string why_not_there(fs::path const& place, fs::path const& data) {
    if (lies_in(place, data)) return "lies in the data folder";
    if (lies_in(data, place)) return "the data folder lies in it";
    return {};
}

constexpr char const* open_to_all =
    "everybody may write to the folder above it, and could put another one in its place";

bool is_open_to_all(unsigned mode) {
    return (mode & S_IWOTH) != 0 && (mode & S_ISVTX) == 0;
}

fs::path by_descriptor(Descriptor const& folder) {
    return "/proc/self/fd/" + std::to_string(folder.get());
}

Descriptor open_below(Descriptor const& above, char const* name) noexcept {
    return Descriptor(::openat(above.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Not by std::filesystem, whose iterators end the process if there is no memory for a name.
std::error_code names_in(fs::path const& folder, std::vector<std::string>& names) {
    return journal::PosixDisk().list(folder, names);
}

/// And base files. Not by readdir, whose stream takes memory.
void remove_segments(Descriptor const& folder) noexcept {
    alignas(dirent64) std::array<char, 4'096> entries;
    for (ssize_t got{}; (got = ::getdents64(folder.get(), entries.data(), entries.size())) > 0;) {
        for (ssize_t at = 0; at < got;) {
            auto const* const entry = reinterpret_cast<dirent64 const*>(entries.data() + at);
            at += entry->d_reclen;
            std::string_view const name = entry->d_name;
            if (name.ends_with(".hfj") || name.ends_with(".hfb"))
                ::unlinkat(folder.get(), entry->d_name, 0);
        }
    }
}

}  // namespace

ResultOf<fs::path, Failure> resolve_target(fs::path const& data, fs::path const& target) {
    auto const refuse = [&](std::string const& why) { return no_target(target, why); };
    if (!target.is_absolute()) return refuse("is not an absolute path");
    std::error_code error;
    auto const source = fs::canonical(data, error);
    if (error) return no_target(data, error.message());
    // The last part may be missing, nothing above it.
    auto const plain = target.lexically_normal();
    auto const trimmed = plain.has_filename() ? plain : plain.parent_path();
    auto const parent = fs::canonical(trimmed.parent_path(), error);
    if (error) return refuse("the folder that is to hold it: " + error.message());
    auto path = parent / trimmed.filename();
    auto const status = fs::status(path, error);
    if (fs::exists(status))
        path = fs::canonical(path, error);
    else if (error && error != std::errc::no_such_file_or_directory)
        return refuse(error.message());
    if (auto const why = why_not_there(path, source); !why.empty()) return refuse(why);
    struct stat above{};
    bool const known = ::stat(path.parent_path().c_str(), &above) == 0;
    if (known && is_open_to_all(above.st_mode)) return refuse(open_to_all);
    if (!fs::exists(status)) return path;
    if (!fs::is_directory(status)) return refuse("is not a folder");
    bool const empty = fs::is_empty(path, error);
    if (error) return refuse(error.message());
    if (!empty) return refuse("is not empty");
    return path;
}

ResultOf<BackupTarget, Failure> BackupTarget::make(fs::path const& data, fs::path const& place) {
    BackupTarget target(place.filename());
    std::string why = target.open(data, place);
    if (why.empty()) why = target.make_ours();
    if (!why.empty()) return no_target(place, why);
    return target;
}

/// Empty, or why it cannot be used.
std::string BackupTarget::open(fs::path const& data, fs::path const& place) {
    above_ = Descriptor(::open(place.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!above_.is_open()) return because("the folder that is to hold it");
    struct stat status{};
    if (::fstat(above_.get(), &status) != 0) return because("the folder that is to hold it");
    if (is_open_to_all(status.st_mode)) return open_to_all;
    made_folder_ = ::mkdirat(above_.get(), name_.c_str(), 0700) == 0;
    if (!made_folder_ && errno != EEXIST) return because("cannot be made");
    folder_ = open_below(above_, name_.c_str());
    if (!folder_.is_open() || ::fstat(folder_.get(), &status) != 0)
        return because("cannot be opened");
    if (status.st_uid != ::geteuid()) return "belongs to another user";
    mode_before_ = status.st_mode & 07777U;
    // Where it really is: what the path led to before may be another folder by now.
    std::error_code error;
    auto const source = fs::canonical(data, error);
    auto const here = error ? fs::path{} : fs::read_symlink(path(), error);
    if (error) return error.message();
    return why_not_there(here, source);
}

std::string BackupTarget::make_ours() {
    std::vector<std::string> names;
    if (auto const error = names_in(path(), names)) return error.message();
    if (!names.empty()) return "is not empty";
    if (::mkdirat(folder_.get(), "journal", 0700) != 0) {
        return errno == EEXIST ? "is not empty" : because("cannot be written");
    }
    ours_ = true;
    if (::fchmod(folder_.get(), 0700) != 0) return because("cannot be made private");
    // Something may have come between the two.
    if (auto const error = names_in(path(), names)) return error.message();
    return names == std::vector<std::string>{"journal"} ? "" : "is not empty";
}

BackupTarget::BackupTarget(BackupTarget&& other) noexcept
    : name_(std::move(other.name_)),
      above_(std::move(other.above_)),
      folder_(std::move(other.folder_)),
      mode_before_(other.mode_before_),
      made_folder_(std::exchange(other.made_folder_, false)),
      ours_(std::exchange(other.ours_, false)),
      kept_(other.kept_) {}

BackupTarget::~BackupTarget() {
    if (ours_ && !kept_) remove_made();
    folder_ = Descriptor{};
    // What is not empty stays: somebody else uses it.
    if (made_folder_ && !kept_) ::unlinkat(above_.get(), name_.c_str(), AT_REMOVEDIR);
}

fs::path BackupTarget::path() const {
    return by_descriptor(folder_);
}

fs::path BackupTarget::above() const {
    return by_descriptor(above_);
}

/// What cannot be removed has no manifest at least: that goes first. Needs no memory, for want of
/// which this may be.
void BackupTarget::remove_made() const noexcept {
    static_assert(manifest_name == "MANIFEST.json");
    for (char const* const name :
         {"MANIFEST.json", "MANIFEST.json.tmp", "store.db", "META.a", "META.b", "server.key"})
        ::unlinkat(folder_.get(), name, 0);
    if (auto const journal = open_below(folder_, "journal"); journal.is_open())
        remove_segments(journal);
    ::unlinkat(folder_.get(), "journal", AT_REMOVEDIR);
    if (!made_folder_) ::fchmod(folder_.get(), mode_before_);
}

}  // namespace holdfast::app
