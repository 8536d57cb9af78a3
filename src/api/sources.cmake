set(SOURCES json_decoder.cpp json_reader.cpp json_span.cpp json_value.cpp problems.cpp
  timestamp.cpp)
set(LINKS Boost::json)
