// SQLite's and OpenSSL's allocations fail where a test says so, as those of operator new do
// (engine/failing_memory.hpp). Both must be told before they are used first, so it is done before
// main.
#include "tests/engine/failing_memory.hpp"

#include <cstdlib>
#include <openssl/crypto.h>
#include <sqlite3.h>

namespace holdfast::test {
namespace {

sqlite3_mem_methods usual;

void* allocate_for_sqlite(int bytes) {
    return engine::test::allocation_fails() ? nullptr : usual.xMalloc(bytes);
}
void* reallocate_for_sqlite(void* memory, int bytes) {
    return engine::test::allocation_fails() ? nullptr : usual.xRealloc(memory, bytes);
}

void* allocate_for_openssl(std::size_t bytes, char const*, int) {
    if (bytes == 0) return nullptr;
    return engine::test::allocation_fails() ? nullptr : std::malloc(bytes);
}
void* reallocate_for_openssl(void* memory, std::size_t bytes, char const*, int) {
    if (bytes == 0) {
        std::free(memory);
        return nullptr;
    }
    return engine::test::allocation_fails() ? nullptr : std::realloc(memory, bytes);
}
void free_for_openssl(void* memory, char const*, int) {
    std::free(memory);
}

bool take_over() {
    bool const of_sqlite = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual) == SQLITE_OK;
    sqlite3_mem_methods ours = usual;
    ours.xMalloc = allocate_for_sqlite;
    ours.xRealloc = reallocate_for_sqlite;
    return of_sqlite && sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) == SQLITE_OK &&
           CRYPTO_set_mem_functions(allocate_for_openssl, reallocate_for_openssl,
                                    free_for_openssl) == 1;
}

bool const taken_over = take_over();

}  // namespace
}  // namespace holdfast::test

namespace holdfast::engine::test {
bool libraries_may_fail() noexcept {
    return holdfast::test::taken_over;
}
}  // namespace holdfast::engine::test
