// Quarantine: keeps a copy of every byte that recovery cuts.
//
// Thread safety: one thread. Invariants: the copy is on disk before the journal goes on; a second
// recovery of the same tail writes the same copy again.
#pragma once

#include <holdfast/journal/journal.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace holdfast::journal {

class Quarantine {
public:
    Quarantine(std::filesystem::path const& data, Disk& disk)
        : data_(data), folder_(data / "quarantine"), disk_(disk) {}

    /// Copies `bytes` from `offset` of the segment. Empty: done.
    [[nodiscard]] std::optional<Failure> keep(File& segment, std::uint64_t number,
                                              std::uint64_t offset, std::uint64_t bytes);

private:
    [[nodiscard]] std::optional<Failure> make_folder();
    [[nodiscard]] Failure not_kept(std::error_code error) const;

    std::filesystem::path const& data_;
    std::filesystem::path folder_;
    Disk& disk_;
};

}  // namespace holdfast::journal
