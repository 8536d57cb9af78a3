#include "tests/store/failing_vfs.hpp"

#include <cstring>
#include <mutex>
#include <sqlite3.h>

namespace holdfast::store {
namespace {

struct FailurePlan {
    FailingVfs::Call call{};
    long left{};  // calls until it fails; 0: nothing fails
    bool lasting{};
    int code{};
    bool met{};
};
std::mutex plan_mutex;
FailurePlan failure_plan;  // under plan_mutex
sqlite3_vfs* system_files;

/// The code to fail with, or SQLITE_OK.
int failure_of(FailingVfs::Call call) {
    std::lock_guard const lock{plan_mutex};
    FailurePlan& plan = failure_plan;
    if (plan.left == 0 || plan.call != call) return SQLITE_OK;
    if (plan.left > 1) {
        --plan.left;
        return SQLITE_OK;
    }
    if (!plan.lasting) plan.left = 0;
    plan.met = true;
    return plan.code;
}

/// The system's own file lies right behind it.
struct FailingFile {
    sqlite3_file base;
    [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
sqlite3_file* real(sqlite3_file* file) {
    return reinterpret_cast<FailingFile*>(file)->real();
}

int close_file(sqlite3_file* file) {
    return real(file)->pMethods->xClose(real(file));
}
int read_file_at(sqlite3_file* file, void* bytes, int count, sqlite3_int64 at) {
    if (int const code = failure_of(FailingVfs::Call::read); code != SQLITE_OK) return code;
    return real(file)->pMethods->xRead(real(file), bytes, count, at);
}
int write_file_at(sqlite3_file* file, void const* bytes, int count, sqlite3_int64 at) {
    if (int const code = failure_of(FailingVfs::Call::write); code != SQLITE_OK) return code;
    return real(file)->pMethods->xWrite(real(file), bytes, count, at);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
    if (int const code = failure_of(FailingVfs::Call::write); code != SQLITE_OK) return code;
    return real(file)->pMethods->xTruncate(real(file), size);
}
int sync_file(sqlite3_file* file, int flags) {
    if (int const code = failure_of(FailingVfs::Call::sync); code != SQLITE_OK) return code;
    return real(file)->pMethods->xSync(real(file), flags);
}
int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}
int lock_file(sqlite3_file* file, int lock) {
    return real(file)->pMethods->xLock(real(file), lock);
}
int unlock_file(sqlite3_file* file, int lock) {
    return real(file)->pMethods->xUnlock(real(file), lock);
}
int look_at_lock(sqlite3_file* file, int* result) {
    return real(file)->pMethods->xCheckReservedLock(real(file), result);
}
int control_file(sqlite3_file* file, int what, void* with) {
    return real(file)->pMethods->xFileControl(real(file), what, with);
}
int sector_of_file(sqlite3_file* file) {
    return real(file)->pMethods->xSectorSize(real(file));
}
int device_of_file(sqlite3_file* file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
void order_shared(sqlite3_file* file) {
    real(file)->pMethods->xShmBarrier(real(file));
}
int unmap_shared(sqlite3_file* file, int also_remove) {
    return real(file)->pMethods->xShmUnmap(real(file), also_remove);
}

sqlite3_io_methods const failing_methods{
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file_at,
    .xWrite = write_file_at,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = look_at_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_of_file,
    .xDeviceCharacteristics = device_of_file,
    .xShmMap =
        [](sqlite3_file* file, int page, int bytes, int extend, auto** memory) {
            return real(file)->pMethods->xShmMap(real(file), page, bytes, extend, memory);
        },
    .xShmLock = lock_shared,
    .xShmBarrier = order_shared,
    .xShmUnmap = unmap_shared,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open_file(sqlite3_vfs*, char const* name, sqlite3_file* file, int flags, int* flags_out) {
    file->pMethods = nullptr;
    if (int const code = failure_of(FailingVfs::Call::open); code != SQLITE_OK) return code;
    int const code = system_files->xOpen(system_files, name, real(file), flags, flags_out);
    if (real(file)->pMethods != nullptr) file->pMethods = &failing_methods;
    return code;
}
int remove_file(sqlite3_vfs*, char const* name, int also_folder) {
    if (int const code = failure_of(FailingVfs::Call::remove); code != SQLITE_OK) return code;
    return system_files->xDelete(system_files, name, also_folder);
}

sqlite3_vfs failing_vfs;

}  // namespace

FailingVfs::FailingVfs() {
    system_files = sqlite3_vfs_find(nullptr);
    failing_vfs = *system_files;
    failing_vfs.zName = "failing";
    failing_vfs.szOsFile += static_cast<int>(sizeof(FailingFile));
    failing_vfs.xOpen = open_file;
    failing_vfs.xDelete = remove_file;
    sqlite3_vfs_register(&failing_vfs, 1);
    fail_nothing();
}

FailingVfs::~FailingVfs() {
    sqlite3_vfs_unregister(&failing_vfs);
    sqlite3_vfs_register(system_files, 1);
}

void FailingVfs::fail(Call call, long nth, bool lasting, int code) {
    std::lock_guard const lock{plan_mutex};
    failure_plan = {call, nth, lasting, code, false};
}

void FailingVfs::fail_nothing() {
    std::lock_guard const lock{plan_mutex};
    failure_plan.left = 0;
}

bool FailingVfs::met() const {
    std::lock_guard const lock{plan_mutex};
    return failure_plan.met;
}

}  // namespace holdfast::store
