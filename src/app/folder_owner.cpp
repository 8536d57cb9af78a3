#include "app/folder_owner.hpp"

#include "app/exit_codes.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <grp.h>
#include <pwd.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast::app {
namespace {

using journal::Failure;

struct FolderOwner {
    uid_t user;
    gid_t group;
    std::string name;  // empty: this machine knows only the number
};

/// Of the folder, if this is root and it belongs to somebody else.
std::optional<FolderOwner> other_owner_of(std::filesystem::path const& data) {
    struct stat status{};
    if (::geteuid() != 0 || ::stat(data.c_str(), &status) != 0 || status.st_uid == 0) return {};
    FolderOwner owner{status.st_uid, status.st_gid, {}};
    if (passwd const* const known = ::getpwuid(owner.user)) {
        owner.group = known->pw_gid;
        owner.name = known->pw_name;
    }
    return owner;
}

bool become(FolderOwner const& owner) {
    int const groups = owner.name.empty() ? ::setgroups(1, &owner.group)
                                          : ::initgroups(owner.name.c_str(), owner.group);
    return groups == 0 && ::setresgid(owner.group, owner.group, owner.group) == 0 &&
           ::setresuid(owner.user, owner.user, owner.user) == 0;
}

}  // namespace

std::optional<Failure> act_as_owner_of(std::filesystem::path const& data) {
    auto const owner = other_owner_of(data);
    if (!owner) return {};
    std::string const who =
        owner->name.empty() ? "user " + std::to_string(owner->user) : owner->name;
    if (!become(*owner)) {
        return Failure{exit_failed, data.string() + ": belongs to " + who +
                                        ", as whom root cannot go on here: " +
                                        std::strerror(errno) + "; run this as that user"};
    }
    std::fprintf(stderr, "holdfast: goes on as %s, who owns %s\n", who.c_str(), data.c_str());
    return {};
}

bool is_root_on_folder_of_another(std::filesystem::path const& data) {
    return other_owner_of(data).has_value();
}

}  // namespace holdfast::app
