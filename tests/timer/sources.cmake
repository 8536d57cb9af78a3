set(SOURCES wheel_test.cpp)
