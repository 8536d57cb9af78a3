#include "store/reading.hpp"

#include <condition_variable>
#include <mutex>
#include <set>
#include <sqlite3.h>
#include <utility>

namespace holdfast::store {
namespace {

/// Of the whole process: a store that closes the readers of another one only makes them open again.
struct ReadersOfProcess {
    std::mutex mutex;
    std::condition_variable left;
    // Under the mutex.
    std::set<ReadingConnection*> connections;
    unsigned short_reads{};
    unsigned long_reads{};
    unsigned refused{};  // by so many NoReaders

    unsigned& count_of(ReadingPass::Length length) noexcept {
        return length == ReadingPass::Length::long_read ? long_reads : short_reads;
    }
};

ReadersOfProcess& readers() {
    static ReadersOfProcess all;
    return all;
}

}  // namespace

void ReadingConnection::join() {
    std::lock_guard const lock{readers().mutex};
    readers().connections.insert(this);
}

void ReadingConnection::leave() noexcept {
    std::lock_guard const lock{readers().mutex};
    close();
    readers().connections.erase(this);
}

std::optional<ReadingPass> ReadingPass::get(Length length) noexcept {
    std::lock_guard const lock{readers().mutex};
    if (readers().refused != 0) return std::nullopt;
    ++readers().count_of(length);
    return ReadingPass{length};
}

ReadingPass::ReadingPass(ReadingPass&& other) noexcept
    : length_(std::exchange(other.length_, std::nullopt)) {}

ReadingPass::~ReadingPass() {
    if (!length_) return;
    std::lock_guard const lock{readers().mutex};
    --readers().count_of(*length_);
    readers().left.notify_all();
}

StoreError no_readers_now() {
    return {SQLITE_BUSY, "the store is read from the disk anew"};
}

NoReaders::NoReaders(std::chrono::milliseconds patience) {
    ReadersOfProcess& all = readers();
    std::unique_lock lock{all.mutex};
    ++all.refused;
    if (all.long_reads != 0) return;
    granted_ = all.left.wait_for(lock, patience, [&] { return all.short_reads == 0; });
    if (!granted_) return;
    for (ReadingConnection* const connection : all.connections) connection->close();
}

NoReaders::~NoReaders() {
    std::lock_guard const lock{readers().mutex};
    --readers().refused;
}

}  // namespace holdfast::store
