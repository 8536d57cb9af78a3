set(SOURCES assert.cpp clock.cpp)
