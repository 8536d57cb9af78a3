#include "journal/meta.hpp"

#include "journal/segment_files.hpp"

#include <holdfast/journal/file_failure.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::journal {

Meta::Meta(std::filesystem::path data, Disk& disk)
    : data_(std::move(data)), disk_(disk), bytes_(page_bytes) {}

std::filesystem::path Meta::path(std::size_t slot) const {
    return data_ / (slot == 0 ? "META.a" : "META.b");
}

std::error_code Meta::load() {
    page_.reset();
    std::error_code first;
    for (std::size_t slot = 0; slot < files_.size(); ++slot) {
        std::error_code const failed = load(slot);
        if (!failed || failed == std::errc::no_such_file_or_directory || first) continue;
        first = failed;
        unread_ = slot;
    }
    return first;
}

std::error_code Meta::load(std::size_t slot) {
    std::unique_ptr<File> file;
    if (auto const error = disk_.open(path(slot), OpenMode::read_device, file)) return error;
    AlignedBytes const bytes{page_bytes};
    std::size_t got{};
    if (auto const error = file->read_at(0, bytes.span(), got)) return error;
    auto const found = decode_meta_page(bytes.span().first(got));
    if (!found || (page_ && page_->generation >= found->generation)) return {};
    page_ = found;
    slot_ = slot;
    return {};
}

Failure Meta::why_not_loaded(std::error_code error) const {
    std::string const name = path(unread_).filename().string();
    bool const is_lost = exit_code_of(error, Access::read) != 76;
    // Each page stands alone: the older one is what a crash before the newer one would have left.
    if (is_lost && page_) {
        return {77, "cannot read " + name + " at offset 0: " + error.message() + "; " +
                        path(slot_).filename().string() + " is good: look at dmesg, move " + name +
                        " out of the folder and start again; nothing was changed"};
    }
    return unreadable(name, 0, error);
}

std::optional<Failure> Meta::refuse_newer() const {
    if (!page_) return {};
    return journal::refuse_newer("META", page_->version, meta_version_with_base);
}

std::error_code Meta::open_for_writing(std::size_t slot) {
    std::error_code const failed = disk_.open(path(slot), OpenMode::write, files_[slot]);
    if (failed != std::errc::no_such_file_or_directory) return failed;
    if (auto const error = disk_.open(path(slot), OpenMode::create, files_[slot])) return error;
    return disk_.sync_folder(data_);
}

std::error_code Meta::store(MetaPage page) {
    page.generation = page_ ? page_->generation + 1 : 1;
    std::size_t const slot = 1 - slot_;
    if (!files_[slot]) {
        if (auto const error = open_for_writing(slot)) return error;
    }
    std::ranges::fill(bytes_.span(), std::byte{});
    encode_meta_page(page, bytes_.span());
    if (auto const error = files_[slot]->write_at(0, bytes_.span())) return error;
    if (auto const error = files_[slot]->sync_data()) return error;
    page_ = page;
    slot_ = slot;
    return {};
}

std::error_code Meta::store_both(MetaPage const& page) {
    std::error_code const error = store(page);
    return error ? error : store(page);
}

}  // namespace holdfast::journal
