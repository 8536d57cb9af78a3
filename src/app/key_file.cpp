#include "app/key_file.hpp"

#include "app/data_folder.hpp"
#include "app/exit_codes.hpp"

#include <cerrno>
#include <string>
#include <system_error>

namespace holdfast::app {
namespace {

using engine::KeyFileFault;
using engine::ServerKey;
using journal::Failure;
using LoadedKey = ResultOf<ServerKey, Failure>;

constexpr char const* remedy =
    "; put the server.key of any backup of this server in its place; nothing was changed; "
    "docs/operations.md says what is left if there is none";

Failure failure_of(KeyFileFault const& fault) {
    switch (fault.kind()) {
        case KeyFileFault::Kind::damaged:
            return {exit_damaged, fault.what() + std::string(remedy)};
        case KeyFileFault::Kind::of_another:
            return {exit_inconsistent, fault.what() + std::string(remedy)};
        case KeyFileFault::Kind::not_private:
            break;
    }
    return {exit_failed, fault.what()};
}

bool is_missing(std::filesystem::path const& file) {
    std::error_code unknown;  // who cannot look at it is told why by whatever opens it
    bool const is_there = std::filesystem::exists(std::filesystem::symlink_status(file, unknown));
    return !is_there && (!unknown || unknown == std::errc::no_such_file_or_directory);
}

}  // namespace

LoadedKey load_key(std::filesystem::path const& file, journal::StoreId const& store_id) {
    if (is_missing(file)) {
        return Failure{
            exit_inconsistent,
            file.string() + ": is missing, and holds and tickets were made with it" + remedy};
    }
    try {
        return ServerKey::load(file, store_id);
    } catch (KeyFileFault const& fault) {
        return failure_of(fault);
    } catch (std::system_error const& error) {
        Failure failure =
            folder_failure(file, "cannot be used", error.code().value(), journal::Access::read);
        if (failure.exit_code == exit_damaged) failure.message += remedy;
        return failure;
    }
}

std::optional<Failure> check_key(std::filesystem::path const& file,
                                 journal::StoreId const& store_id) {
    auto const key = load_key(file, store_id);
    return key ? std::optional<Failure>{} : key.error();
}

LoadedKey load_or_make_key(std::filesystem::path const& file, journal::StoreId const& store_id) {
    if (!is_missing(file)) return load_key(file, store_id);
    try {
        return ServerKey::load_or_make(file, store_id);
    } catch (std::system_error const& error) {
        return folder_failure(file, "cannot be made", error.code().value());
    } catch (KeyFileFault const& fault) {
        return failure_of(fault);
    }
}

}  // namespace holdfast::app
