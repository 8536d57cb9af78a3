#include "journal/format.hpp"
#include "journal/group_reader.hpp"
#include "journal/meta.hpp"
#include "journal/quarantine.hpp"
#include "journal/segment_files.hpp"
#include "journal/upkeep.hpp"

#include <holdfast/journal/recovery.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace holdfast::journal {
namespace {

using Refusal = std::optional<Failure>;  // of a step; empty: go on

/// There may be tens of thousands, and a file of the device costs a descriptor and 1 MiB: so only
/// the last one stays open, another while it is read.
struct Segment {
    std::uint64_t number{};
    std::unique_ptr<File> file;
    std::uint64_t size{};
    std::optional<SegmentHeader> header;
    [[nodiscard]] std::string name() const { return segment_name(number); }
};

std::string lsn_text(std::uint64_t lsn) {
    return std::to_string(lsn);
}

Failure mixed(std::string const& what) {
    return {78, "inconsistent data folder: " + what +
                    "; nothing was changed; docs/durability.md says what to do"};
}

/// One pass over the journal, oldest byte first. Rn names a row of the decision table in
/// RELIABILITY.md 3.4. Nothing on disk is changed before every row was passed.
class Recovery {
public:
    Recovery(std::filesystem::path const& data, Disk& disk, std::optional<StoreState> const& store,
             RecordSink& sink, Entropy& entropy)
        : data_(data),
          disk_(disk),
          store_(store),
          sink_(sink),
          entropy_(entropy),
          meta_(data, disk) {}

    [[nodiscard]] ResultOf<Recovered, Failure> run();

private:
    [[nodiscard]] Refusal load_meta();
    [[nodiscard]] Refusal open_segments();
    [[nodiscard]] Refusal open_file(Segment& segment);
    [[nodiscard]] Refusal check_numbers(std::vector<std::uint64_t>& numbers);
    [[nodiscard]] Refusal check_empty_journal();
    [[nodiscard]] Refusal check_header(Segment const& segment, std::uint32_t& epoch);
    [[nodiscard]] Refusal set_aside_unborn();
    [[nodiscard]] Refusal check_segments();
    [[nodiscard]] Failure lost_start(std::uint32_t epoch) const;
    [[nodiscard]] Refusal scan();
    [[nodiscard]] Refusal compare_history(std::uint32_t chain) const;
    [[nodiscard]] Refusal begin_segment(Segment const& segment);
    [[nodiscard]] Refusal scan_groups(Segment const& segment, std::uint64_t sealed_lsn);
    [[nodiscard]] Refusal scan_rest(Segment const& segment);
    [[nodiscard]] Refusal judge_end();
    [[nodiscard]] Refusal change_disk();
    void see_durable(std::uint64_t lsn) { durable_ = std::max(durable_, lsn); }
    void see_wall(std::uint64_t ms) { wall_ms_ = std::max(wall_ms_, ms); }
    /// Where no LSN of the place itself can be told.
    [[nodiscard]] std::string known() const {
        return "; acknowledged up to LSN " + lsn_text(durable_) + " at least";
    }
    [[nodiscard]] Recovered result() const;

    std::filesystem::path const& data_;
    Disk& disk_;
    std::optional<StoreState> const& store_;
    RecordSink& sink_;
    Entropy& entropy_;
    Meta meta_;
    GroupReader reader_;
    StoreId store_id_{};
    std::vector<Segment> segments_;
    std::optional<Segment> unborn_;  // R6: a last segment that never held anything
    Cursor end_{};                   // E, and where the good prefix of the last segment ends
    std::uint64_t durable_{};        // D
    std::uint64_t wall_ms_{};
    std::uint64_t records_{};
    std::uint64_t cut_bytes_{};
    bool clean_{};
};

Refusal Recovery::load_meta() {
    if (auto const error = meta_.load()) return meta_.why_not_loaded(error);
    if (!meta_.page()) return {};
    if (auto refusal = meta_.refuse_newer()) return refusal;
    MetaPage const& page = *meta_.page();
    store_id_ = page.store_id;
    see_durable(page.durable_lsn);
    return {};
}

Refusal Recovery::check_empty_journal() {
    bool const store_has_id = store_ && store_->store_id != StoreId{};
    if (store_ && store_->applied_lsn != no_lsn) {  // R8
        return damaged("there is none, but the store holds its records up to LSN " +
                       lsn_text(store_->applied_lsn.value()));
    }
    // META with epoch 0 was written just before the very first segment.
    if (meta_.page() && (meta_.page()->boot_epoch != 0 || durable_ != 0)) {
        return damaged("all segments are missing; acknowledged up to LSN " + lsn_text(durable_));
    }
    if (!meta_.page() && store_has_id) store_id_ = store_->store_id;
    if (meta_.page() && store_has_id && store_->store_id != store_id_) {  // R7
        return mixed("META and store.db belong to different stores");
    }
    if (store_id_ == StoreId{}) entropy_.fill(std::as_writable_bytes(std::span{store_id_}));
    return {};
}

Refusal Recovery::check_numbers(std::vector<std::uint64_t>& numbers) {
    if (!meta_.page()) return damaged("neither META.a nor META.b is good, but segments exist");
    std::uint64_t const first = meta_.page()->first_segment;
    std::erase_if(numbers, [first](std::uint64_t number) { return number < first; });
    for (std::size_t at = 0; at < numbers.size(); ++at) {  // R5
        if (numbers[at] == first + at) continue;
        return damaged("segment " + segment_name(first + at) + " is missing" + known());
    }
    if (numbers.empty()) return damaged("segment " + segment_name(first) + " is missing" + known());
    return {};
}

Refusal Recovery::open_segments() {
    std::vector<std::uint64_t> numbers;
    if (auto const error = list_segments(disk_, journal_folder(data_), numbers)) {
        return unreadable("journal/", 0, error);
    }
    if (numbers.empty()) return check_empty_journal();
    if (auto refusal = check_numbers(numbers)) return refusal;
    segments_.reserve(numbers.size());
    for (std::uint64_t const number : numbers) {
        if (!segments_.empty()) segments_.back().file.reset();
        Segment& segment = segments_.emplace_back(Segment{number, nullptr, 0, {}});
        if (auto refusal = open_file(segment)) return refusal;
        if (auto const error = read_segment_header(*segment.file, segment.header)) {
            return unreadable(segment.name(), 0, error);
        }
    }
    return check_segments();
}

Refusal Recovery::open_file(Segment& segment) {
    if (segment.file) return {};
    auto const path = journal_folder(data_) / segment.name();
    if (auto const error = disk_.open(path, OpenMode::read_device, segment.file)) {
        return unreadable(segment.name(), 0, error);
    }
    segment.size = segment.file->size();
    return {};
}

Refusal Recovery::check_header(Segment const& segment, std::uint32_t& epoch) {
    if (!segment.header) return damaged("the header of " + segment.name() + " is bad");
    SegmentHeader const& header = *segment.header;
    if (auto refusal = refuse_newer(segment.name(), header.version, format_version)) return refusal;
    if (header.store_id != store_id_) {  // R7
        return mixed(segment.name() + " belongs to another store than META");
    }
    if (header.segment != segment.number) {  // R5
        return damaged(segment.name() + " is segment " + std::to_string(header.segment) +
                       " by its header, from LSN " + lsn_text(header.base_lsn) + " on");
    }
    std::uint64_t const size = segment.size;
    if (!is_possible(header) || header.boot_epoch < epoch || size % page_bytes != 0 ||
        size < 2 * page_bytes) {
        return damaged("the header or size of " + segment.name() + " is impossible");
    }
    epoch = header.boot_epoch;
    see_wall(header.created_ms);
    return {};
}

// R6: a crash between giving a segment its name and its header reaching the disk. See lost_start().
Refusal Recovery::set_aside_unborn() {
    Segment& last = segments_.back();
    if (last.header) return {};
    std::uint64_t const size = last.size;
    if (size % page_bytes != 0 || size < 2 * page_bytes) {
        return damaged(last.name() + " has " + std::to_string(size) + " bytes and no good header");
    }
    for (std::uint64_t offset = page_bytes; offset < size; offset += page_bytes) {
        GroupReader::Page page;
        if (auto const error = reader_.look(*last.file, SegmentHeader{}, offset, page)) {
            return unreadable(last.name(), offset, error);
        }
        if (!page.is_zero) return damaged("the header of " + last.name() + " is bad");
    }
    if (segments_.size() == 1 && last.number != 1) {
        return damaged("the header of " + last.name() + ", the only segment, is bad");
    }
    unborn_ = std::move(last);
    segments_.pop_back();
    return {};
}

/// R5, or what looks like R6 and is not: META heard of a start after its segment was whole on disk,
/// so that segment had a header, and what it held may have been acknowledged.
Failure Recovery::lost_start(std::uint32_t epoch) const {
    std::string const start = "META knows start " + std::to_string(meta_.page()->boot_epoch);
    if (unborn_)
        return damaged(start + ", whose segment " + unborn_->name() +
                       " has lost its header and all that it held" + known());
    return damaged(start + ", but the last segment is of start " + std::to_string(epoch));
}

Refusal Recovery::check_segments() {
    if (auto refusal = set_aside_unborn()) return refusal;
    std::uint32_t epoch = 0;
    for (Segment const& segment : segments_) {
        if (auto refusal = check_header(segment, epoch)) return refusal;
    }
    if (meta_.page()->boot_epoch > epoch) return lost_start(epoch);
    bool const store_has_id = store_ && store_->store_id != StoreId{};
    if (store_has_id && store_->store_id != store_id_) {  // R7
        return mixed("the journal and store.db belong to different stores");
    }
    if (store_ && !segments_.empty() &&
        store_->applied_lsn.value() < segments_.front().header->prev_last_lsn) {  // R9
        return damaged("it begins at LSN " + lsn_text(segments_.front().header->base_lsn) +
                       ", but the store ends at LSN " + lsn_text(store_->applied_lsn.value()) +
                       ": restore an older backup with its journals");
    }
    return {};
}

// R7: after a restore or a salvage a server gives the same LSNs once more. `chain`: of the group
// that holds the store's applied_lsn.
Refusal Recovery::compare_history(std::uint32_t chain) const {
    if (store_->applied_chain.value_or(chain) == chain) return {};
    return mixed("store.db has followed another history of this server, its record of LSN " +
                 lsn_text(store_->applied_lsn.value()) +
                 " is not the journal's: one of them is of before a restore or a salvage, or of a "
                 "copy that another server ran on");
}

Refusal Recovery::begin_segment(Segment const& segment) {
    SegmentHeader const& header = *segment.header;
    bool const is_first = &segment == &segments_.front();
    if (is_first) end_ = {header.prev_last_lsn, header.prev_chain, page_bytes};
    if (is_first && header.segment != 1 && !sink_.begin(start_of(header))) {
        return mixed("what was before " + segment.name() + " is not known");
    }
    if (header.prev_last_lsn != end_.lsn || header.prev_chain != end_.chain) {  // R5
        return damaged(segment.name() + " goes on from LSN " + lsn_text(header.prev_last_lsn) +
                       ", but the segment before ends with another record at LSN " +
                       lsn_text(end_.lsn));
    }
    if (is_first && header.segment == 1 && header.prev_last_lsn != 0) {
        return damaged("the first segment begins at LSN " + lsn_text(header.base_lsn));
    }
    if (is_first && header.prev_last_lsn != 0 && store_ &&
        store_->applied_lsn.value() == header.prev_last_lsn) {
        if (auto refusal = compare_history(header.prev_chain)) return refusal;
    }
    end_.offset = page_bytes;
    see_durable(header.prev_last_lsn);
    clean_ = false;
    return {};
}

/// Reads groups up to the first bad spot, or until `sealed_lsn` is reached.
Refusal Recovery::scan_groups(Segment const& segment, std::uint64_t sealed_lsn) {
    std::optional<Group> group;
    while (end_.lsn < sealed_lsn) {
        if (auto const error = reader_.read(*segment.file, *segment.header, end_, group)) {
            return unreadable(segment.name(), end_.offset, error);
        }
        if (!group) return {};
        std::uint64_t const applied = store_ ? store_->applied_lsn.value() : 0;
        if (group->header.first_lsn <= applied && applied <= group->header.last_lsn) {
            if (auto refusal = compare_history(group->header.body_crc)) return refusal;
        }
        Delivery const delivery =
            deliver(*group, 0, std::numeric_limits<std::uint64_t>::max(), sink_);
        if (delivery == Delivery::bad_framing) {
            return damaged(segment.name() + " holds malformed records at offset " +
                           std::to_string(end_.offset) + ", LSN " +
                           lsn_text(group->header.first_lsn) + " to " +
                           lsn_text(group->header.last_lsn));
        }
        if (delivery == Delivery::stopped_by_sink) {
            return mixed("a record cannot be applied: " + segment.name() + ", offset " +
                         std::to_string(end_.offset) + ", LSN " +
                         lsn_text(group->header.first_lsn) + " to " +
                         lsn_text(group->header.last_lsn));
        }
        records_ += group->header.record_count;
        see_durable(group->header.durable_lsn);
        see_wall(group->header.wall_ms);
        clean_ = (group->header.flags & flag_clean) != 0;
        pass(end_, group->header);
    }
    return {};
}

/// Behind the first bad spot of the last segment: what would be cut, and what it knows of D.
Refusal Recovery::scan_rest(Segment const& segment) {
    GroupReader::Page page;
    for (std::uint64_t offset = end_.offset;; offset += page_bytes) {
        if (auto const error = reader_.look(*segment.file, *segment.header, offset, page)) {
            return unreadable(segment.name(), offset, error);
        }
        if (page.is_end) return {};
        if (page.header) see_durable(page.header->durable_lsn);
        if (!page.is_zero) cut_bytes_ = offset + page_bytes - end_.offset;
    }
}

Refusal Recovery::scan() {
    for (std::size_t at = 0; at < segments_.size(); ++at) {
        Segment& segment = segments_[at];
        bool const is_last = at + 1 == segments_.size();
        if (auto refusal = open_file(segment)) return refusal;
        if (auto refusal = begin_segment(segment)) return refusal;
        std::uint64_t const sealed = is_last ? std::numeric_limits<std::uint64_t>::max()
                                             : segments_[at + 1].header->prev_last_lsn;
        if (auto refusal = scan_groups(segment, sealed)) return refusal;
        if (!is_last && end_.lsn < sealed) {  // R4
            return damaged(segment.name() + ", offset " + std::to_string(end_.offset) + ": LSN " +
                           lsn_text(end_.lsn + 1) + " to " + lsn_text(sealed) +
                           " are missing; the next segment seals them");
        }
        if (is_last) {
            if (auto refusal = scan_rest(segment)) return refusal;
        } else {
            segment.file.reset();
        }
    }
    return judge_end();
}

Refusal Recovery::judge_end() {
    bool const store_is_ahead = store_ && store_->applied_lsn.value() > end_.lsn;
    if (store_is_ahead && cut_bytes_ == 0) {  // R8; else the damage is the cause, and has a place
        return damaged("it ends at LSN " + lsn_text(end_.lsn) +
                       ", but the store holds its records up to LSN " +
                       lsn_text(store_->applied_lsn.value()) + ": was it lost or rolled back?");
    }
    if (end_.lsn >= durable_) return {};  // R1 or R2
    std::string const where =
        segments_.empty() ? unborn_->name()  // R3
                          : segments_.back().name() + ", offset " + std::to_string(end_.offset);
    return damaged(where + ": LSN " + lsn_text(end_.lsn + 1) + " to " + lsn_text(durable_) +
                   " were acknowledged and are missing");
}

Refusal Recovery::change_disk() {
    Quarantine quarantine{data_, disk_};
    if (cut_bytes_ != 0) {  // R2
        Segment const& last = segments_.back();
        if (auto failure = quarantine.keep(*last.file, last.number, end_.offset, cut_bytes_)) {
            return failure;
        }
    }
    if (!unborn_) return {};
    // Behind its header there are only zeros. It stays until the next segment takes its name: were
    // it moved now, a crash before that would leave a journal that lacks a start META knows of.
    return quarantine.keep(*unborn_->file, unborn_->number, 0, page_bytes);
}

Recovered Recovery::result() const {
    Recovered recovered;
    recovered.records = records_;
    recovered.cut_bytes = cut_bytes_;
    if (cut_bytes_ != 0) {
        recovered.cut_at = segments_.back().name() + ", offset " + std::to_string(end_.offset) +
                           ", from LSN " + lsn_text(end_.lsn + 1) + " on";
    }
    Tail& tail = recovered.tail;
    tail.store_id = store_id_;
    tail.last_lsn = Lsn{end_.lsn};
    tail.chain = end_.chain;
    tail.boot_epoch = meta_.page() ? meta_.page()->boot_epoch : 0;
    tail.first_segment = meta_.page() ? meta_.page()->first_segment : 1;
    if (!segments_.empty()) {
        tail.boot_epoch = std::max(tail.boot_epoch, segments_.back().header->boot_epoch);
        tail.last_segment = segments_.back().number;
    }
    tail.last_wall = TimePoint{Milliseconds{static_cast<std::int64_t>(wall_ms_)}};
    tail.clean = clean_ && cut_bytes_ == 0 && !unborn_;
    return recovered;
}

ResultOf<Recovered, Failure> Recovery::run() {
    if (store_) see_durable(store_->applied_lsn.value());
    if (auto refusal = load_meta()) return std::move(*refusal);
    if (auto refusal = open_segments()) return std::move(*refusal);
    if (!segments_.empty() || unborn_) {
        if (auto refusal = scan()) return std::move(*refusal);
        if (auto refusal = change_disk()) return std::move(*refusal);
    }
    return result();
}

}  // namespace

ResultOf<Recovered, Failure> recover(std::filesystem::path const& data, Disk& disk,
                                     std::optional<StoreState> const& store, RecordSink& sink,
                                     Entropy& entropy) {
    return Recovery{data, disk, store, sink, entropy}.run();
}

}  // namespace holdfast::journal
