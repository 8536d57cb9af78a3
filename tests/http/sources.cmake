set(SOURCES message_test.cpp problem_test.cpp router_test.cpp)
list(APPEND TESTS_LINKS Boost::json)  # the tests read the problem documents back
