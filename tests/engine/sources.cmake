set(SOURCES facts_test.cpp replay_test.cpp)
