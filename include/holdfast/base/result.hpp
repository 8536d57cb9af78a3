// Result<T, E>: a value or the reason why there is none.
//
// Purpose: the return type of everything that can be refused. Callers test it and then dereference;
//   production code never calls .value().
// Thread safety: a value.
// Cost: that of boost::system::result.
#pragma once

#include <boost/system/result.hpp>

namespace holdfast {

template <class T, class E>
class [[nodiscard]] ResultOf : public boost::system::result<T, E> {
public:
    using boost::system::result<T, E>::result;
};

}  // namespace holdfast
