set(SOURCES command_line_test.cpp kill_test.cpp serve_test.cpp stop_test.cpp ../support/child.cpp
            ../support/server_process.cpp)
