// Asio's compiled part (BOOST_ASIO_SEPARATE_COMPILATION), once for the whole program: http and
// loadgen both need it, and they may not know each other.
#include <boost/asio/impl/src.hpp>
