set(SOURCES
  admission_test.cpp
  bodies_apart_test.cpp
  chunked_test.cpp
  cross_origin_test.cpp
  deadline_wheel_test.cpp
  durability_test.cpp
  fault_test.cpp
  guard_test.cpp half_read_heads_test.cpp handler_timeout_test.cpp
  hosts_test.cpp
  h1spec_test.cpp
  live.cpp
  load_meter_test.cpp
  message_test.cpp
  peer_limits_test.cpp
  problem_test.cpp
  proxies_test.cpp
  raw_cases_test.cpp
  reader_pace_test.cpp
  reply_writer_test.cpp
  resting_test.cpp
  router_test.cpp
  server_test.cpp
  stream_test.cpp
  timeout_test.cpp
  tls_test.cpp
  waiting_line_model_test.cpp
  waiting_line_test.cpp
  worker_test.cpp
  ../support/certificate.cpp ../support/tls_client.cpp)
list(APPEND TESTS_LINKS Boost::json)  # the tests read the problem documents back
