set(SOURCES asio.cpp assert.cpp clock.cpp crc32c.cpp entropy.cpp histogram.cpp log.cpp log_text.cpp)
