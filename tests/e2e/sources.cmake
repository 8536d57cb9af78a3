set(SOURCES bench_engine_test.cpp command_line_test.cpp crowd_test.cpp kill_test.cpp serve_test.cpp
            stop_test.cpp ../support/child.cpp ../support/server_process.cpp)
# The whole program: a sale by 50 clients, two kill -9, and every promise checked.
add_test(NAME "e2e: bench sale" COMMAND holdfast bench sale --clients 50 --json)
set_tests_properties("e2e: bench sale" PROPERTIES TIMEOUT 300 LABELS e2e)
