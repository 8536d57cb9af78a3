set(SOURCES authorization.cpp claim_decoder.cpp hold_document.cpp holds.cpp json_decoder.cpp
  json_reader.cpp json_span.cpp json_value.cpp json_writer.cpp metrics.cpp ops.cpp
  order_decoder.cpp order_lists.cpp order_reads.cpp orders.cpp problems.cpp process_metrics.cpp
  timestamp.cpp)
set(LINKS Boost::json)
