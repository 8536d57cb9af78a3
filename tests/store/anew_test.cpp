// A store whose sync has failed is read from the disk anew (RELIABILITY.md F1): pages that the
// kernel has dropped since are lost, and a test loses them by writing what the disk had in their
// place.
#include "store/anew.hpp"

#include "tests/store/failing_vfs.hpp"
#include "tests/store/store_samples.hpp"

#include <holdfast/store/snapshot.hpp>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace holdfast::store {
namespace {

using samples::nth_order;

using Bytes = std::string;
constexpr std::uint64_t orders_at_failure = 6;
constexpr std::uint64_t orders_at_end = 8;
constexpr std::size_t cache_page = 4'096;

Bytes read_bytes(std::filesystem::path const& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// In place, as whoever has it open would see it.
void write_bytes(std::filesystem::path const& file, Bytes const& bytes) {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    REQUIRE(out);
    std::filesystem::resize_file(file, bytes.size());
}

void apply_orders(Store& store, std::uint64_t up_to) {
    for (auto number = store.identity().applied_lsn.value() + 1; number <= up_to; ++number) {
        REQUIRE(store.begin());
        REQUIRE(store.apply_order(nth_order(number)));
        REQUIRE(store.commit(Lsn{number}, static_cast<std::uint32_t>(number)));
    }
}

/// A store with an event that somebody was told of and orders behind it that nobody has synced,
/// somebody who has read it, and then a sync that fails.
struct DoubtfulStore {
    explicit DoubtfulStore(bool is_link = false) : real(is_link ? "elsewhere.db" : "store.db") {
        if (is_link) std::filesystem::create_symlink(real, folder.file());
        store = samples::open_store(folder.file());
        REQUIRE(store->insert_event(samples::full_event("told")));
        synced = read_bytes(wal()).size();
        apply_orders(*store, orders_at_failure);
        written = read_bytes(wal());
        reader = *Reader::open(folder.file());
        REQUIRE((*reader).orders(no_lsn, 1));
        files.fail(FailingVfs::Call::sync, 1, false, SQLITE_IOERR_FSYNC);
        CHECK_FALSE(store->insert_event(samples::full_event("refused")));
        files.fail_nothing();
        REQUIRE_FALSE(store->usable());
        REQUIRE(store->in_doubt());
    }
    [[nodiscard]] std::filesystem::path wal() const { return folder.file(real) += "-wal"; }
    [[nodiscard]] Bytes as_it_should_be() {
        apply_orders(*store, orders_at_end);
        auto const kept = store->insert_event(samples::full_event("later"));
        REQUIRE(kept);
        REQUIRE(*kept);
        REQUIRE(*store->checkpoint());
        REQUIRE(store->check());
        Bytes rows;
        for (std::string const& row : samples::dump(folder.file())) rows += row + "\n";
        return rows;
    }

    FailingVfs files;
    samples::TempFolder folder;
    char const* real;
    std::unique_ptr<Store> store;
    std::unique_ptr<Reader> reader;
    std::size_t synced{};  // bytes of the WAL
    Bytes written;         // what it had before the failure
};

bool has_event(Store& store, std::string const& slug) {
    auto const events = store.load_events();
    REQUIRE(events);
    return std::ranges::any_of(*events, [&](EventSpec const& spec) { return spec.slug == slug; });
}

}  // namespace

TEST_CASE("P3: of the WAL of a store in doubt only what the disk has is believed", "[store]") {
    enum class Loss { none, one_page, all_behind, end_of_file };
    Bytes whole;
    {
        DoubtfulStore doubtful;
        REQUIRE(doubtful.store->reopen());
        whole = doubtful.as_it_should_be();
    }
    std::size_t losses = 0;
    for (Loss const loss : {Loss::none, Loss::one_page, Loss::all_behind, Loss::end_of_file}) {
        for (std::size_t page = 0;; ++page) {
            DoubtfulStore doubtful;
            std::size_t const from =
                std::max(doubtful.synced, (doubtful.synced / cache_page + page) * cache_page);
            std::size_t const end = doubtful.written.size();
            if (from >= end) break;
            CAPTURE(static_cast<int>(loss), page);
            Bytes lost = read_bytes(doubtful.wal());
            std::size_t const next = (from / cache_page + 1) * cache_page;
            if (loss == Loss::one_page)
                std::fill(lost.begin() + static_cast<long>(from),
                          lost.begin() + static_cast<long>(std::min(next, end)), '\0');
            if (loss == Loss::all_behind)
                std::fill(lost.begin() + static_cast<long>(from), lost.end(), '\0');
            if (loss == Loss::end_of_file) lost.resize(from);
            write_bytes(doubtful.wal(), lost);
            REQUIRE(doubtful.store->reopen());
            REQUIRE(has_event(*doubtful.store, "told"));
            Lsn const applied = doubtful.store->identity().applied_lsn;
            if (loss == Loss::none) REQUIRE(applied == Lsn{orders_at_failure});
            if (loss != Loss::none) REQUIRE(applied < Lsn{orders_at_failure});
            // Its reader goes by an index of frames that may be lost.
            REQUIRE_FALSE(doubtful.reader->orders(no_lsn, 1));
            REQUIRE(doubtful.as_it_should_be() == whole);
            auto const reader = Reader::open(doubtful.folder.file());
            REQUIRE(reader);
            REQUIRE((*reader)->orders(no_lsn, 100)->items.size() == orders_at_end);
            ++losses;
            if (loss == Loss::none) break;
        }
    }
    std::printf("pages lost from a WAL: %zu\n", losses);
    CHECK(losses > 20);
}

TEST_CASE("P3: what a checkpoint that was cut short had copied is copied again after a failure",
          "[store]") {
    DoubtfulStore doubtful;
    REQUIRE(doubtful.store->reopen());
    Store& store = *doubtful.store;
    REQUIRE(*store.checkpoint());
    Bytes const file_on_disk = read_bytes(doubtful.folder.file());
    REQUIRE(store.insert_event(samples::full_event("second")));
    doubtful.reader = *Reader::open(doubtful.folder.file());
    REQUIRE(doubtful.reader->orders(no_lsn, 1));
    {
        auto snapshot = Snapshot::take(doubtful.folder.file());
        REQUIRE(snapshot);
        apply_orders(store, orders_at_end);
        // It copies what the snapshot does not need, notes that, and syncs nothing.
        auto other = Database::open_writer(doubtful.folder.file());
        REQUIRE(other);
        REQUIRE(other->number("PRAGMA wal_checkpoint(PASSIVE)"));
    }
    REQUIRE(read_bytes(doubtful.folder.file()) != file_on_disk);
    doubtful.files.fail(FailingVfs::Call::sync, 2, false, SQLITE_IOERR_FSYNC);  // of the file
    REQUIRE_FALSE(store.checkpoint());
    doubtful.files.fail_nothing();
    REQUIRE(doubtful.files.met());
    write_bytes(doubtful.folder.file(), file_on_disk);
    REQUIRE(store.reopen());
    REQUIRE(store.identity().applied_lsn == Lsn{orders_at_end});
    REQUIRE(*store.checkpoint());
    REQUIRE(store.check());
    CHECK(has_event(store, "told"));
    CHECK(has_event(store, "second"));
    CHECK(store.order_sums()->size() == orders_at_end);
}

TEST_CASE("a store in doubt is not opened while a backup reads it", "[store]") {
    DoubtfulStore doubtful;
    // It is closed, so the snapshot is of what SQLite believes.
    auto snapshot = Snapshot::take(doubtful.folder.file());
    REQUIRE(snapshot);
    auto const refused = doubtful.store->reopen();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == StoreError::Kind::busy);
    CHECK_FALSE(doubtful.store->usable());
    snapshot->reset();
    REQUIRE(doubtful.store->reopen());
    CHECK(has_event(*doubtful.store, "told"));
}

TEST_CASE("a store in doubt is not opened while another process has it", "[store]") {
    DoubtfulStore doubtful;
    int pipe_ends[2];
    REQUIRE(::pipe2(pipe_ends, O_CLOEXEC) == 0);
    std::string const shm = doubtful.folder.file("store.db-shm");
    pid_t const child = ::fork();
    if (child == 0) {
        // Calls that are safe behind a fork only.
        struct flock lock{};
        lock.l_type = F_RDLCK;
        lock.l_whence = SEEK_SET;
        lock.l_start = 128;  // as whoever has it open holds it
        lock.l_len = 1;
        int const fd = ::open(shm.c_str(), O_RDWR);
        char const done = ::fcntl(fd, F_SETLK, &lock) == 0 ? '1' : '0';
        if (::write(pipe_ends[1], &done, 1) == 1) ::pause();
        ::_exit(0);
    }
    REQUIRE(child > 0);
    char done{};
    bool const told = ::read(pipe_ends[0], &done, 1) == 1 && done == '1';
    auto const refused = doubtful.store->reopen();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    REQUIRE(told);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Catch::Contains("another process"));
    REQUIRE(doubtful.store->reopen());
    CHECK(has_event(*doubtful.store, "told"));
}

TEST_CASE("P3: a WAL in doubt is gone on with in a new file, whatever the kernel keeps of the old",
          "[store]") {
    DoubtfulStore doubtful;
    Bytes const before = read_bytes(doubtful.wal());
    struct stat old{};
    REQUIRE(::stat(doubtful.wal().c_str(), &old) == 0);
    auto const copy = doubtful.folder.file("store.db-wal.new");
    SECTION("a copy that cannot be made changes nothing") {
        std::filesystem::create_directory(copy);
        auto const refused = begin_anew(doubtful.folder.file(), 0);
        REQUIRE_FALSE(refused);
        CHECK_THAT(refused.error().message, Catch::Contains("store.db-wal.new"));
        CHECK(read_bytes(doubtful.wal()) == before);
    }
    SECTION("nor does one that would leave the journal too little space") {
        auto const refused = begin_anew(doubtful.folder.file(), std::uint64_t{1} << 62U);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == SQLITE_FULL);
        CHECK_THAT(refused.error().message, Catch::Contains("bytes free"));
        CHECK(read_bytes(doubtful.wal()) == before);
        CHECK_FALSE(std::filesystem::exists(copy));
        REQUIRE_FALSE(doubtful.store->reopen(std::uint64_t{1} << 62U));
        REQUIRE(doubtful.store->reopen());
    }
    SECTION("a copy has bytes, mode and owner of the old one") {
        std::ofstream(copy) << "what a life has left that was killed meanwhile";
        REQUIRE(begin_anew(doubtful.folder.file(), 0));
        struct stat made{};
        REQUIRE(::stat(doubtful.wal().c_str(), &made) == 0);
        CHECK(made.st_ino != old.st_ino);
        CHECK(made.st_mode == old.st_mode);
        CHECK(made.st_uid == old.st_uid);
        CHECK(read_bytes(doubtful.wal()) == before);
        CHECK_FALSE(std::filesystem::exists(copy));
    }
    SECTION("a start removes what is left of one") {
        std::ofstream(copy) << "what a life has left that was killed meanwhile";
        doubtful.store.reset();
        REQUIRE(Store::drop_cache(doubtful.folder.file()));
        CHECK(read_bytes(doubtful.wal()) == before);
        CHECK(std::filesystem::exists(copy));  // commands that only read drop the cache, too
        auto const started = samples::open_store(doubtful.folder.file());
        CHECK_FALSE(std::filesystem::exists(copy));
        CHECK(has_event(*started, "told"));
    }
}

TEST_CASE("the WAL in doubt is that of the file which a link leads to", "[store]") {
    DoubtfulStore doubtful(true);
    struct stat old{};
    REQUIRE(::stat(doubtful.wal().c_str(), &old) == 0);
    REQUIRE(doubtful.store->reopen());
    struct stat made{};
    REQUIRE(::stat(doubtful.wal().c_str(), &made) == 0);
    CHECK(made.st_ino != old.st_ino);
    CHECK_FALSE(doubtful.reader->is_open());
    CHECK((*Reader::open(doubtful.folder.file()))->is_open());
    CHECK_FALSE(std::filesystem::exists(doubtful.folder.file("store.db-wal")));
    CHECK(has_event(*doubtful.store, "told"));
}

TEST_CASE("P3: a store in doubt that the kernel keeps in memory is gone on with in a new file",
          "[store]") {
    bool const is_link = GENERATE(false, true);
    DoubtfulStore doubtful(is_link);
    REQUIRE(doubtful.store->reopen());
    REQUIRE(*doubtful.store->checkpoint());
    auto const file = doubtful.folder.file(doubtful.real);
    CHECK(std::filesystem::is_symlink(doubtful.folder.file()) == is_link);
    struct stat old{};
    REQUIRE(::stat(file.c_str(), &old) == 0);
    auto const bytes = static_cast<std::size_t>(old.st_size);
    int const fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    ::close(fd);
    REQUIRE(mapped != MAP_FAILED);
    doubtful.files.fail(FailingVfs::Call::sync, 1, false, SQLITE_IOERR_FSYNC);
    CHECK_FALSE(doubtful.store->insert_event(samples::full_event("refused-again")));
    doubtful.files.fail_nothing();
    bool const opened = doubtful.store->reopen().has_value();
    ::munmap(mapped, bytes);
    REQUIRE(opened);
    struct stat made{};
    REQUIRE(::stat(file.c_str(), &made) == 0);
    CHECK(made.st_ino != old.st_ino);
    CHECK(made.st_mode == old.st_mode);
    CHECK(has_event(*doubtful.store, "told"));
    CHECK(std::filesystem::is_symlink(doubtful.folder.file()) == is_link);
    CHECK_FALSE(std::filesystem::exists(doubtful.folder.file(doubtful.real) += ".new"));
    CHECK_FALSE(doubtful.as_it_should_be().empty());
}

TEST_CASE("readers come and go while a store in doubt is opened again and again", "[store]") {
    DoubtfulStore doubtful;
    REQUIRE(doubtful.store->reopen());
    apply_orders(*doubtful.store, orders_at_end);
    REQUIRE(*doubtful.store->checkpoint());
    std::atomic<bool> enough{false};
    std::atomic<int> read{};
    std::atomic<int> wrong{};
    auto const read_on = [&] {
        std::unique_ptr<Reader> reader;
        while (!enough) {
            if (reader == nullptr) {
                auto opened = Reader::open(doubtful.folder.file());
                if (!opened && opened.error().kind != StoreError::Kind::busy) ++wrong;
                if (opened) reader = *std::move(opened);
                continue;
            }
            auto const found = reader->orders(no_lsn, 100);
            if (found && found->items.size() != orders_at_end) ++wrong;
            if (found) ++read;
            if (!found) reader.reset();
        }
    };
    std::thread one(read_on);
    std::thread other(read_on);
    int opened = 0;
    for (int failure = 0; failure < 20; ++failure) {
        doubtful.files.fail(FailingVfs::Call::sync, 1, false, SQLITE_IOERR_FSYNC);
        auto const refused =
            doubtful.store->insert_event(samples::full_event("n" + std::to_string(failure)));
        if (!refused && doubtful.store->reopen()) ++opened;
    }
    enough = true;
    one.join();
    other.join();
    CHECK(opened == 20);
    CHECK(wrong == 0);
    CHECK(read > 0);
    REQUIRE(doubtful.store->check());
    CHECK(has_event(*doubtful.store, "told"));
}

TEST_CASE("nothing is begun anew where there is nothing, or only a file", "[store]") {
    samples::TempFolder const folder;
    CHECK(begin_anew(folder.file(), 0));
    std::ofstream(folder.file()) << "a file";
    CHECK(begin_anew(folder.file(), 0));
    CHECK(read_bytes(folder.file()) == "a file");
    std::filesystem::create_directory(folder.file("store.db-wal"));
    auto const refused = begin_anew(folder.file(), 0);
    REQUIRE_FALSE(refused);
    CHECK_THAT(refused.error().message, Catch::Contains("store.db-wal"));
}

}  // namespace holdfast::store
