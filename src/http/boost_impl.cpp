// Beast's compiled part (BOOST_BEAST_SEPARATE_COMPILATION); Asio's is in base.
#include <boost/beast/src.hpp>
