set(SOURCES asio.cpp assert.cpp clock.cpp)
