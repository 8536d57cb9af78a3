set(SOURCES live.cpp message_test.cpp problem_test.cpp router_test.cpp server_test.cpp)
list(APPEND TESTS_LINKS Boost::json)  # the tests read the problem documents back
