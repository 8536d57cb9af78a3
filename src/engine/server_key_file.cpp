// The file of the server's key: 32 random bytes that nobody else may read.
#include <holdfast/base/entropy.hpp>
#include <holdfast/engine/server_key.hpp>
#include <holdfast/journal/whole_files.hpp>

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

void make_file(std::filesystem::path const& file) {
    ServerKey::Secret secret{};
    system_entropy().fill(std::as_writable_bytes(std::span{secret}));
    journal::PosixDisk disk;
    auto const error = journal::write_whole(disk, file, std::as_bytes(std::span{secret}));
    OPENSSL_cleanse(secret.data(), secret.size());
    if (error) throw std::system_error(error, "server key " + file.string() + ": cannot be made");
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
