// File failures: what an errno about a file of a data folder means for whoever asked.
//
// Purpose: one place that tells want of something (76, with a remedy) from damage (77), for a start
//   and for every command on a folder at rest. Who only lacks space, descriptors, memory or a right
//   must never be told to restore a backup.
// Thread safety: pure functions. Cost: a switch.
#pragma once

#include <holdfast/journal/journal.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace holdfast::journal {

enum class Access : std::uint8_t { read, write };

enum class Trouble : std::uint8_t {
    none,    // nothing of this kind: a path that is not as it must be
    want,    // of space, descriptors, memory or threads
    rights,  // the file is not ours, or its file system takes no writes
    device,  // the disk does not do what it was asked
};
[[nodiscard]] Trouble trouble_of(std::error_code error) noexcept;
/// 76 for want and rights, and of a device that cannot be written; 77 of one that cannot be read; 1
/// for none.
[[nodiscard]] int exit_code_of(std::error_code error, Access access) noexcept;
/// What the operator can do; empty: nothing that is known here.
[[nodiscard]] std::string_view remedy_of(std::error_code error) noexcept;
/// `TEXT: CAUSE; REMEDY`, as far as there is one.
[[nodiscard]] std::string with_remedy(std::string text, std::error_code cause);
/// `PATH: WHAT: CAUSE; REMEDY` with that exit code.
[[nodiscard]] Failure file_failure(std::filesystem::path const& path, std::string_view what,
                                   std::error_code error, Access access);

}  // namespace holdfast::journal
