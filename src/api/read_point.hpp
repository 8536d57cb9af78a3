// Read point: what a read from memory has to wait for.
#pragma once

#include <holdfast/api/routes.hpp>

namespace holdfast::api {

/// A read shows nothing that may still vanish: it waits for the records it may have seen. After a
/// failure nothing more becomes durable, and reads go on.
[[nodiscard]] inline Lsn read_point(Context const& context) {
    bool const failed = context.journal.mode() == journal::Mode::failed;
    return failed ? no_lsn : context.journal.appended_lsn();
}

}  // namespace holdfast::api
