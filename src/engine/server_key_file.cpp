// The file of the server's key, which nobody else may read. 52 bytes:
//   0  16  the id of the store (journal and store.db) whose holds and tickets it makes
//  16  32  the secret, random
//  48   4  CRC-32C of the 48 bytes before, little-endian
// A file of any other length is damaged: there is one format.
#include <holdfast/base/crc32c.hpp>
#include <holdfast/base/descriptor.hpp>
#include <holdfast/base/entropy.hpp>
#include <holdfast/engine/server_key.hpp>
#include <holdfast/journal/whole_files.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace holdfast::engine {
namespace {

using Kind = KeyFileFault::Kind;

constexpr std::size_t secret_at = std::tuple_size_v<ServerKey::StoreId>;
constexpr std::size_t check_at = secret_at + std::tuple_size_v<ServerKey::Secret>;
constexpr std::size_t file_bytes = check_at + sizeof(std::uint32_t);
static_assert(file_bytes == 52);

/// What is in the file; nothing of it stays in memory.
struct Content {
    Content() = default;
    ~Content() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
    Content(Content const&) = delete;
    Content& operator=(Content const&) = delete;
    [[nodiscard]] std::span<std::uint8_t> secret() {
        return std::span{bytes}.subspan(secret_at, check_at - secret_at);
    }
    [[nodiscard]] std::uint32_t check() const {
        return crc32c(std::as_bytes(std::span{bytes}.first(check_at)));
    }

    std::array<std::uint8_t, file_bytes> bytes{};
};

[[noreturn]] void fail(Kind kind, std::filesystem::path const& file, std::string const& why) {
    throw KeyFileFault(kind, file.string() + ": " + why);
}
[[noreturn]] void fail_errno(std::filesystem::path const& file, char const* what) {
    throw std::system_error(errno, std::generic_category(), file.string() + ": " + what);
}
[[noreturn]] void fail_length(std::filesystem::path const& file, std::uint64_t bytes) {
    fail(Kind::damaged, file,
         "is damaged: it has " + std::to_string(bytes) + " bytes and not " +
             std::to_string(file_bytes));
}

void read_content(Descriptor const& in, std::filesystem::path const& file, Content& content) {
    struct stat about{};
    if (::fstat(in.get(), &about) != 0) fail_errno(file, "cannot be looked at");
    if (!S_ISREG(about.st_mode)) fail(Kind::not_private, file, "is not a regular file");
    if ((about.st_mode & 077U) != 0) {
        fail(Kind::not_private, file, "others may read or write it; make it mode 0600 or 0400");
    }
    if (about.st_size != static_cast<off_t>(file_bytes))
        fail_length(file, static_cast<std::uint64_t>(about.st_size));
    // The disk is asked, as by the recovery of a journal; what is in memory tells nothing of it.
    static_cast<void>(::posix_fadvise(in.get(), 0, 0, POSIX_FADV_DONTNEED));
    ssize_t const got = ::pread(in.get(), content.bytes.data(), file_bytes, 0);
    if (got < 0) fail_errno(file, "cannot be read");
    if (got != static_cast<ssize_t>(file_bytes)) fail_length(file, static_cast<std::uint64_t>(got));
}

ServerKey::Secret checked_secret(Content& content, std::filesystem::path const& file,
                                 ServerKey::StoreId const& store_id) {
    std::uint32_t check{};
    std::memcpy(&check, content.bytes.data() + check_at, sizeof check);
    if (check != content.check()) fail(Kind::damaged, file, "is damaged: its CRC is another");
    if (!std::equal(store_id.begin(), store_id.end(), content.bytes.begin()))
        fail(Kind::of_another, file, "is of another server than the journal and store.db");
    ServerKey::Secret secret{};
    std::ranges::copy(content.secret(), secret.begin());
    return secret;
}

void make_file(std::filesystem::path const& file, ServerKey::StoreId const& store_id) {
    Content content;
    std::ranges::copy(store_id, content.bytes.begin());
    system_entropy().fill(std::as_writable_bytes(content.secret()));
    std::uint32_t const check = content.check();
    std::memcpy(content.bytes.data() + check_at, &check, sizeof check);
    journal::PosixDisk disk;
    if (auto const error =
            journal::write_whole(disk, file, std::as_bytes(std::span{content.bytes})))
        throw std::system_error(error, file.string() + ": cannot be made");
}

}  // namespace

ServerKey ServerKey::load(std::filesystem::path const& file, StoreId const& store_id) {
    Descriptor const in(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (!in.is_open()) fail_errno(file, "cannot be opened");
    Content content;
    read_content(in, file, content);
    Secret secret = checked_secret(content, file, store_id);
    ServerKey key(secret);
    OPENSSL_cleanse(secret.data(), secret.size());
    return key;
}

ServerKey ServerKey::load_or_make(std::filesystem::path const& file, StoreId const& store_id) {
    struct stat about{};
    if (::lstat(file.c_str(), &about) != 0 && errno == ENOENT) make_file(file, store_id);
    return load(file, store_id);
}

}  // namespace holdfast::engine
