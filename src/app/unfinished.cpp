#include "app/unfinished.hpp"

#include "app/exit_codes.hpp"

#include <holdfast/journal/file_failure.hpp>
#include <holdfast/journal/whole_files.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace holdfast::app {

using journal::Access;
using journal::Failure;

std::optional<Failure> mark_unfinished(std::filesystem::path const& folder, journal::Disk& disk) {
    std::string const text = "holdfast salvage has not finished this folder: remove all of it\n";
    auto const file = folder / unfinished_name;
    if (auto const error = journal::write_whole(disk, file, std::as_bytes(std::span{text})))
        return journal::file_failure(file, "cannot be written", error, Access::write);
    return {};
}

std::optional<Failure> mark_finished(std::filesystem::path const& folder, journal::Disk& disk) {
    auto const file = folder / unfinished_name;
    std::error_code error = disk.sync_folder(folder);
    if (!error) error = disk.remove(file);
    if (!error) error = disk.sync_folder(folder);
    if (error) return journal::file_failure(file, "cannot be removed", error, Access::write);
    return {};
}

bool remove_unfinished(std::filesystem::path const& folder, journal::Disk& disk) {
    std::vector<std::string> names;
    if (disk.list(folder, names)) return false;
    bool all = true;
    for (std::string const& name : names) {
        if (name == unfinished_name) continue;
        std::error_code error = disk.remove(folder / name);
        if (error == std::errc::is_a_directory) {
            error.clear();
            std::filesystem::remove_all(folder / name, error);
        }
        all = all && !error;
    }
    if (!all) return false;
    bool const marked = std::ranges::find(names, unfinished_name) != names.end();
    return !marked || !mark_finished(folder, disk);
}

std::optional<Failure> refuse_unfinished(std::filesystem::path const& folder) {
    auto const file = folder / unfinished_name;
    std::error_code error;
    bool const is_there = std::filesystem::exists(file, error);
    if (error) return journal::file_failure(file, "cannot be looked at", error, Access::read);
    if (!is_there) return {};
    return Failure{exit_damaged,
                   folder.string() + ": " + unfinished_name +
                       " says that `holdfast salvage` was ended before this folder was whole; "
                       "remove the folder and salvage once more"};
}

}  // namespace holdfast::app
