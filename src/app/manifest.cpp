#include "app/manifest.hpp"

#include "app/data_folder.hpp"
#include "app/exit_codes.hpp"
#include "app/manifest_text.hpp"

#include <holdfast/base/descriptor.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <openssl/evp.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace holdfast::app {
namespace {

using journal::BetweenPieces;
using journal::Failure;

constexpr std::size_t hashed_piece_bytes = 1U << 20;
constexpr std::size_t manifest_bytes_max = 64U << 20;  // some 500,000 files
constexpr std::size_t faults_told_max = 10;

/// A regular file for reading, never by way of a symbolic link.
class ReadFile {
public:
    explicit ReadFile(std::filesystem::path const& file)
        : fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {
        if (fd_.is_open() && ::fstat(fd_.get(), &status_) == 0 && !S_ISREG(status_.st_mode)) {
            fd_ = Descriptor{};
            errno = EINVAL;
        }
    }
    [[nodiscard]] bool is_open() const noexcept { return fd_.is_open(); }
    [[nodiscard]] std::uint64_t size() const noexcept {
        return static_cast<std::uint64_t>(status_.st_size);
    }
    /// From here on a read sees the disk: the manifest vouches for what it has, not for the page
    /// cache. False with errno: what is in the cache cannot be written to it.
    [[nodiscard]] bool drop_cache() const noexcept {
        if (::fdatasync(fd_.get()) != 0 && errno != EROFS) return false;
        // No promise, but what is clean goes.
        static_cast<void>(::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED));
        return true;
    }
    /// Bytes read, 0 at the end; -1 with errno.
    [[nodiscard]] ssize_t read(std::vector<char>& bytes) const {
        for (;;) {
            ssize_t const got = ::read(fd_.get(), bytes.data(), bytes.size());
            if (got >= 0 || errno != EINTR) return got;
        }
    }

private:
    Descriptor fd_;
    struct stat status_{};
};

/// A backup has this file, so whatever is the matter with it is damage, but for what is only not to
/// be had now.
Failure not_read(std::filesystem::path const& file, int error) {
    Failure failure = folder_failure(file, "cannot be read", error, journal::Access::read);
    if (failure.exit_code == exit_failed) failure.exit_code = exit_damaged;
    return failure;
}

struct FreeDigest {
    void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};

class Sha256 {
public:
    Sha256() : context_(EVP_MD_CTX_new()) {
        if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
            throw std::bad_alloc();
    }
    void add(std::string_view bytes) {
        if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1)
            throw std::bad_alloc();
    }
    [[nodiscard]] std::string finish() {
        std::array<unsigned char, 32> digest{};
        if (EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) != 1) throw std::bad_alloc();
        return hexadecimal(digest);
    }

private:
    std::unique_ptr<EVP_MD_CTX, FreeDigest> context_;
};

ResultOf<ManifestFile, Failure> measure_file(std::filesystem::path const& folder,
                                             std::string const& name,
                                             BetweenPieces const& between) {
    ReadFile const file(folder / name);
    if (!file.is_open()) return not_read(folder / name, errno);
    if (!file.drop_cache()) return folder_failure(folder / name, "cannot be synced", errno);
    ManifestFile measured{name, 0, {}};
    Sha256 hash;
    std::vector<char> piece(hashed_piece_bytes);
    for (;;) {
        if (auto stopped = between()) return *std::move(stopped);
        ssize_t const got = file.read(piece);
        if (got < 0) return not_read(folder / name, errno);
        if (got == 0) break;
        hash.add({piece.data(), static_cast<std::size_t>(got)});
        measured.bytes += static_cast<std::uint64_t>(got);
    }
    measured.sha256 = hash.finish();
    return measured;
}

/// What a start or SQLite would read, though the manifest does not name it.
bool is_read_by_a_start(std::string const& folder, std::string const& name, std::uint64_t bytes) {
    if (folder == "journal/") return name.ends_with(".hfj") || name.ends_with(".hfb");
    // SQLite leaves an empty WAL behind a reader; a full one would be replayed.
    if (name == "store.db-wal" || name == "store.db-journal") return bytes != 0;
    return name == "META.a" || name == "META.b" || name == "store.db" || name == "server.key";
}

/// A failure: it cannot be told now what is there.
std::optional<Failure> find_extra(std::filesystem::path const& root, std::string const& below,
                                  std::set<std::string_view> const& known,
                                  std::vector<std::string>& faults) {
    auto const folder = root / below;
    std::vector<std::string> names;
    std::error_code const failed = journal::PosixDisk().list(folder, names);
    // A folder that is missing shows by its files.
    bool const missing =
        failed == std::errc::no_such_file_or_directory || failed == std::errc::not_a_directory;
    if (failed && !missing) {
        Failure failure = not_read(folder, failed.value());
        if (failure.exit_code == exit_not_durable) return failure;
        faults.push_back(std::move(failure.message));
    }
    std::ranges::sort(names);
    for (std::string const& name : names) {
        if (known.contains(below + name)) continue;
        std::error_code unknown_size;
        auto const bytes = std::filesystem::file_size(folder / name, unknown_size);
        if (is_read_by_a_start(below, name, unknown_size ? 1 : bytes))
            faults.push_back(below + name + " is there, though it is not part of the backup");
    }
    return {};
}

std::string fault_of(ReadFile const& file, ManifestFile const& wanted) {
    bool const missing = errno == ENOENT || errno == ENOTDIR;
    bool const odd = errno == EINVAL || errno == ELOOP;
    if (!file.is_open() && (missing || odd))
        return wanted.name + (missing ? " is missing" : " is no file");
    if (file.is_open() && file.size() != wanted.bytes)
        return wanted.name + " has " + std::to_string(file.size()) + " bytes instead of " +
               std::to_string(wanted.bytes);
    return {};
}

/// A failure: it cannot be read now, which says nothing of it.
std::optional<Failure> find_fault(std::filesystem::path const& folder, ManifestFile const& wanted,
                                  std::vector<std::string>& faults) {
    {
        ReadFile const file(folder / wanted.name);
        if (auto fault = fault_of(file, wanted); !fault.empty()) {
            faults.push_back(std::move(fault));
            return {};
        }
    }
    auto const found = measure_file(folder, wanted.name, [] { return std::optional<Failure>{}; });
    if (!found && found.error().exit_code == exit_not_durable) return found.error();
    if (!found)
        faults.push_back(found.error().message);
    else if (*found != wanted)
        faults.push_back(wanted.name + " has another content: its SHA-256 is " + found->sha256);
    return {};
}

}  // namespace

ResultOf<std::vector<ManifestFile>, Failure> measure(std::filesystem::path const& folder,
                                                     std::vector<std::string> const& names,
                                                     BetweenPieces const& between) {
    std::vector<ManifestFile> files;
    for (std::string const& name : names) {
        auto file = measure_file(folder, name, between);
        // What was just made and cannot be read back is no backup, and no damage of the original.
        if (!file) return Failure{exit_failed, file.error().message};
        files.push_back(*std::move(file));
    }
    return files;
}

std::optional<Failure> write_manifest(std::filesystem::path const& folder, journal::Disk& disk,
                                      Manifest const& manifest) {
    auto const file = folder / manifest_name;
    std::string const text = to_text(manifest);
    // All else has its name already, and only now does the manifest get its own.
    std::error_code error = disk.sync_folder(folder);
    if (!error) error = journal::write_whole(disk, file, std::as_bytes(std::span(text)));
    if (!error) return {};
    return Failure{exit_failed, journal::with_remedy(file.string() + ": cannot be written", error)};
}

ResultOf<std::optional<Manifest>, Failure> read_manifest(std::filesystem::path const& folder) {
    auto const path = folder / manifest_name;
    ReadFile const file(path);
    if (!file.is_open()) {
        if (errno == ENOENT) return std::optional<Manifest>{};
        return not_read(path, errno);
    }
    if (file.size() > manifest_bytes_max)
        return Failure{exit_damaged, path.string() + ": is too large to be a manifest"};
    std::string text;
    std::vector<char> piece(hashed_piece_bytes);
    for (;;) {
        ssize_t const got = file.read(piece);
        if (got < 0) return not_read(path, errno);
        if (got == 0) break;
        text.append(piece.data(), static_cast<std::size_t>(got));
    }
    auto manifest = manifest_of(text);
    if (manifest) return std::optional{*std::move(manifest)};
    return Failure{manifest.error().exit_code, path.string() + ": " + manifest.error().message};
}

ResultOf<std::vector<std::string>, Failure> find_faults(std::filesystem::path const& folder,
                                                        Manifest const& manifest) {
    std::vector<std::string> faults;
    std::set<std::string_view> known;
    for (ManifestFile const& file : manifest.files) {
        known.insert(file.name);
        if (auto failure = find_fault(folder, file, faults)) return *std::move(failure);
    }
    for (char const* const below : {"", "journal/"})
        if (auto failure = find_extra(folder, below, known, faults)) return *std::move(failure);
    return faults;
}

ResultOf<Manifest, Failure> check_manifest(std::filesystem::path const& folder) {
    auto manifest = read_manifest(folder);
    if (!manifest) return manifest.error();
    if (!*manifest) {
        return Failure{exit_damaged, folder.string() + ": has no " + std::string(manifest_name) +
                                         ": it is no backup, or one that was never finished"};
    }
    auto const found = find_faults(folder, **manifest);
    if (!found) return found.error();
    auto const& faults = *found;
    if (faults.empty()) return **std::move(manifest);
    std::string message = folder.string() + ": the backup is not whole";
    for (std::size_t at = 0; at < std::min(faults.size(), faults_told_max); ++at)
        message += (at == 0 ? ": " : "; ") + faults[at];
    if (faults.size() > faults_told_max)
        message += "; and " + std::to_string(faults.size() - faults_told_max) + " more";
    return Failure{exit_damaged, message};
}

std::optional<Failure> check_if_backup(std::filesystem::path const& folder) {
    auto const manifest = read_manifest(folder);
    if (!manifest) return manifest.error();  // to read it once more may say something else
    if (!*manifest) return {};
    auto const checked = check_manifest(folder);
    return checked ? std::optional<Failure>{} : checked.error();
}

std::optional<Failure> set_manifest_aside(std::filesystem::path const& folder,
                                          journal::Disk& disk) {
    auto const file = folder / manifest_name;
    std::error_code error = disk.rename(file, folder / used_manifest_name);
    if (error == std::errc::no_such_file_or_directory) return {};
    if (!error) error = disk.sync_folder(folder);
    if (!error) return {};
    return Failure{exit_not_durable,
                   journal::with_remedy(file.string() + ": cannot be renamed", error)};
}

std::optional<Failure> remove_used_manifest(std::filesystem::path const& folder,
                                            journal::Disk& disk) {
    auto const file = folder / used_manifest_name;
    std::error_code error = disk.remove(file);
    if (error == std::errc::no_such_file_or_directory) return {};
    if (!error) error = disk.sync_folder(folder);
    if (!error) return {};
    return Failure{exit_not_durable,
                   journal::with_remedy(file.string() + ": cannot be removed", error)};
}

}  // namespace holdfast::app
