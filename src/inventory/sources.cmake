set(SOURCES geometry.cpp)
