// Meta: the two pages META.a and META.b that say where the journal stands.
//
// Purpose: written in turn, so that a torn write leaves the page before it whole.
// Thread safety: one thread at a time.
// Invariants: generations grow; the page with the highest good generation is never overwritten.
// Cost: store() is one page write and one sync.
#pragma once

#include "journal/aligned_bytes.hpp"
#include "journal/format.hpp"

#include <holdfast/journal/journal.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

namespace holdfast::journal {

class Meta {
public:
    Meta(std::filesystem::path data, Disk& disk);

    /// Reads both pages past the page cache. A missing or damaged page is no error here; of pages
    /// that cannot be read the first error.
    [[nodiscard]] std::error_code load();
    /// Of an error of load(): which file, and the way out if the other one is good.
    [[nodiscard]] Failure why_not_loaded(std::error_code error) const;
    /// R10: of a page that a newer holdfast wrote. Asked before anything else of it is used.
    [[nodiscard]] std::optional<Failure> refuse_newer() const;
    /// The good page with the highest generation; empty if there is none.
    [[nodiscard]] std::optional<MetaPage> const& page() const noexcept { return page_; }
    /// Writes and syncs `page` with the next generation into the other slot. It needs memory while
    /// it opens that slot's file, once, and throws before it writes anything.
    [[nodiscard]] std::error_code store(MetaPage page);
    /// Into both slots, one after the other.
    [[nodiscard]] std::error_code store_both(MetaPage const& page);

private:
    [[nodiscard]] std::filesystem::path path(std::size_t slot) const;
    [[nodiscard]] std::error_code load(std::size_t slot);
    [[nodiscard]] std::error_code open_for_writing(std::size_t slot);

    std::filesystem::path data_;
    Disk& disk_;
    std::optional<MetaPage> page_;
    std::size_t slot_{1};   // that of page_
    std::size_t unread_{};  // the slot that load() could not read
    std::array<std::unique_ptr<File>, 2> files_;
    AlignedBytes bytes_;  // of a page that is written
};

}  // namespace holdfast::journal
