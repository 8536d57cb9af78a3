set(SOURCES client.cpp fetch.cpp response_reader.cpp url.cpp)
set(LINKS Boost::json)
