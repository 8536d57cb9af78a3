set(SOURCES plan_real_test.cpp)
