#include <holdfast/domain/refusal.hpp>

#include <stdexcept>
#include <string>

namespace holdfast {

void throw_exception_from_error(Refusal const& refusal, boost::source_location const& where) {
    throw std::logic_error("value() of a refused result, code " +
                           std::to_string(static_cast<int>(refusal.code)) + ", in " +
                           where.file_name() + ":" + std::to_string(where.line()));
}

}  // namespace holdfast
