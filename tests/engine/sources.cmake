set(SOURCES facts_test.cpp replay_test.cpp server_key_test.cpp)
