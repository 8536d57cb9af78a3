// GroupReader: reads one segment group by group, checking every rule of the format.
//
// Thread safety: one thread. Invariants: gives only groups that are whole and follow on what was
// read before in LSN, chain and epoch. Cost: one copy and one CRC of every byte.
#pragma once

#include "journal/aligned_bytes.hpp"
#include "journal/format.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <system_error>

namespace holdfast::journal {

/// How far a journal was read.
struct Cursor {
    std::uint64_t lsn{};
    std::uint32_t chain{};
    std::uint64_t offset{};  // of the next group
};

struct Group {
    GroupHeader header;
    std::span<std::byte const> payload;  // valid until the next read
};

/// Says whether a page or the end of one is all zeros.
[[nodiscard]] bool is_zero(std::span<std::byte const> bytes) noexcept;

class GroupReader {
public:
    GroupReader() : buffer_(16 * page_bytes) {}

    /// Reads the group at the cursor. Empty: what is there is no group that may follow.
    [[nodiscard]] std::error_code read(File& file, SegmentHeader const& segment,
                                       Cursor const& cursor, std::optional<Group>& group);
    /// Looks at one page behind a bad spot, where only a group's header is of interest.
    struct Page {
        bool is_end{};
        bool is_zero{};
        std::optional<GroupHeader> header;
    };
    [[nodiscard]] std::error_code look(File& file, SegmentHeader const& segment,
                                       std::uint64_t offset, Page& page);

private:
    AlignedBytes buffer_;  // as large as the largest group so far
};

/// Moves the cursor behind the group.
void pass(Cursor& cursor, GroupHeader const& header) noexcept;

enum class Delivery : std::uint8_t { done, stopped_by_sink, bad_framing };
/// Gives the records with after < LSN <= until to the sink, once the whole group proved
/// well-formed.
[[nodiscard]] Delivery deliver(Group const& group, std::uint64_t after, std::uint64_t until,
                               RecordSink& sink);

}  // namespace holdfast::journal
