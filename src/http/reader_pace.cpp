#include "http/reader_pace.hpp"

namespace holdfast::http {
namespace {

constexpr std::uint64_t write_bytes_per_second_min = 1'024;

}  // namespace

bool keeps_pace(std::uint64_t taken, Milliseconds timeout) noexcept {
    auto const time = static_cast<std::uint64_t>(timeout.count());
    return taken >= time * write_bytes_per_second_min / 1'000;
}

}  // namespace holdfast::http
