#include "app/exit_codes.hpp"

#include <holdfast/journal/file_failure.hpp>

#include <boost/system/system_error.hpp>
#include <new>
#include <system_error>

namespace holdfast::app {

Ending ending_of(std::exception const& error) {
    std::error_code cause;
    std::string why = error.what();
    if (auto const* const told = dynamic_cast<std::system_error const*>(&error)) {
        cause = told->code();
        // Of EAGAIN only std::thread says no more than the code; ours name what failed.
        bool const no_thread = cause == std::errc::resource_unavailable_try_again;
        if (no_thread && why == cause.message()) why.insert(0, "a thread cannot be started: ");
    } else if (auto const* const boost = dynamic_cast<boost::system::system_error const*>(&error)) {
        cause = boost->code();
    } else if (dynamic_cast<std::bad_alloc const*>(&error) != nullptr) {
        cause = std::make_error_code(std::errc::not_enough_memory);
        why = "there is no memory left";
    }
    if (journal::trouble_of(cause) != journal::Trouble::want) return {exit_failed, std::move(why)};
    return {exit_not_durable, why + "; " + std::string(journal::remedy_of(cause))};
}

}  // namespace holdfast::app
