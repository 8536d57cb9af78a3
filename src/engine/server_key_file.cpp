// The file of the server's key: 32 random bytes that nobody else may read.
#include <holdfast/base/entropy.hpp>
#include <holdfast/engine/server_key.hpp>

#include <cerrno>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace holdfast::engine {
namespace {

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(Descriptor const&) = delete;
    Descriptor& operator=(Descriptor const&) = delete;
    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] bool open() const { return number_ >= 0; }

private:
    int number_;
};

[[noreturn]] void fail(std::filesystem::path const& file, std::string const& why) {
    throw std::runtime_error("server key " + file.string() + ": " + why);
}
[[noreturn]] void fail_errno(std::filesystem::path const& file, char const* what) {
    throw std::system_error(errno, std::generic_category(),
                            "server key " + file.string() + ": " + what);
}

ServerKey::Secret read_secret(Descriptor const& in, std::filesystem::path const& file) {
    struct stat about{};
    if (::fstat(in.number(), &about) != 0) fail_errno(file, "cannot be looked at");
    if (!S_ISREG(about.st_mode)) fail(file, "is not a regular file");
    if ((about.st_mode & 077U) != 0) {
        fail(file, "others may read or write it; make it mode 0600 or 0400");
    }
    ServerKey::Secret secret{};
    if (about.st_size != static_cast<off_t>(secret.size())) fail(file, "is not 32 bytes long");
    ssize_t const got = ::pread(in.number(), secret.data(), secret.size(), 0);
    if (got < 0) fail_errno(file, "cannot be read");
    if (got != static_cast<ssize_t>(secret.size())) fail(file, "is not 32 bytes long");
    return secret;
}

void sync_folder(std::filesystem::path const& folder) {
    Descriptor const open_folder(
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!open_folder.open()) fail_errno(folder, "its folder cannot be opened");
    if (::fsync(open_folder.number()) != 0) fail_errno(folder, "its folder cannot be synced");
}

/// Written beside its place and renamed, so that a crash leaves a whole key or none.
void make_file(std::filesystem::path const& file) {
    ServerKey::Secret secret{};
    system_entropy().fill(std::as_writable_bytes(std::span{secret}));
    std::filesystem::path const draft = file.string() + ".new";
    if (::unlink(draft.c_str()) != 0 && errno != ENOENT) fail_errno(draft, "is in the way");
    {
        Descriptor const out(
            ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!out.open()) fail_errno(draft, "cannot be made");
        if (::fchmod(out.number(), 0600) != 0) fail_errno(draft, "cannot be protected");
        ssize_t const put = ::pwrite(out.number(), secret.data(), secret.size(), 0);
        OPENSSL_cleanse(secret.data(), secret.size());
        if (put < 0) fail_errno(draft, "cannot be written");
        if (put != static_cast<ssize_t>(secret.size())) fail(draft, "cannot be written whole");
        if (::fsync(out.number()) != 0) fail_errno(draft, "cannot be synced");
    }
    if (::rename(draft.c_str(), file.c_str()) != 0) fail_errno(file, "cannot be put in place");
    sync_folder(file.parent_path());
}

}  // namespace

ServerKey ServerKey::load_or_make(std::filesystem::path const& file) {
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    int number = ::open(file.c_str(), flags);
    if (number < 0 && errno == ENOENT) {
        make_file(file);
        number = ::open(file.c_str(), flags);
    }
    Descriptor const in(number);
    if (!in.open()) fail_errno(file, "cannot be opened");
    Secret secret = read_secret(in, file);
    ServerKey key(secret);
    OPENSSL_cleanse(secret.data(), secret.size());
    return key;
}

}  // namespace holdfast::engine
