#include <holdfast/journal/file_failure.hpp>

#include <cerrno>
#include <utility>

namespace holdfast::journal {
namespace {

int number_of(std::error_code error) noexcept {
    bool const is_errno =
        error.category() == std::generic_category() || error.category() == std::system_category();
    return is_errno ? error.value() : 0;
}

}  // namespace

Trouble trouble_of(std::error_code error) noexcept {
    switch (number_of(error)) {
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
        case EMFILE:
        case ENFILE:
        case ENOMEM:
        case ENOBUFS:
        case EAGAIN:  // of a thread
            return Trouble::want;
        case EACCES:
        case EPERM:
        case EROFS:
            return Trouble::rights;
        case EIO:
        case EUCLEAN:  // the file system found itself damaged
        case EBADMSG:
        case ENODATA:
        case EREMOTEIO:
        case ENXIO:
        case ESTALE:
            return Trouble::device;
        default:
            return Trouble::none;
    }
}

int exit_code_of(std::error_code error, Access access) noexcept {
    switch (trouble_of(error)) {
        case Trouble::want:
        case Trouble::rights:
            return 76;
        case Trouble::device:
            return access == Access::read ? 77 : 76;
        case Trouble::none:
            break;
    }
    return 1;
}

std::string_view remedy_of(std::error_code error) noexcept {
    switch (number_of(error)) {
        case ENOSPC:
        case EDQUOT:
            return "free space on its disk";
        case EFBIG:
            return "let files be larger (ulimit -f, LimitFSIZE=)";
        case EMFILE:
            return "let the process have more file descriptors (ulimit -n, LimitNOFILE=)";
        case ENFILE:
            return "the machine has no file descriptors left: raise fs.file-max";
        case ENOMEM:
        case ENOBUFS:
            return "let the process have more memory";
        case EAGAIN:
            return "let the process have more threads (ulimit -u, TasksMax=)";
        case EROFS:
            return "its file system is read-only: mount it for writing, or name another data "
                   "folder";
        default:
            break;
    }
    switch (trouble_of(error)) {
        case Trouble::rights:
            return "the user that runs holdfast must own the data folder: chown it, or name "
                   "another";
        case Trouble::device:
            return "the disk fails; see dmesg";
        default:
            return {};
    }
}

std::string with_remedy(std::string text, std::error_code cause) {
    text.append(": ").append(cause.message());
    if (auto const remedy = remedy_of(cause); !remedy.empty()) text.append("; ").append(remedy);
    return text;
}

Failure file_failure(std::filesystem::path const& path, std::string_view what,
                     std::error_code error, Access access) {
    std::string text = path.string();
    text.append(": ").append(what);
    return {exit_code_of(error, access), with_remedy(std::move(text), error)};
}

}  // namespace holdfast::journal
