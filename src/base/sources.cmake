set(SOURCES asio.cpp assert.cpp clock.cpp crc32c.cpp entropy.cpp histogram.cpp log.cpp log_text.cpp
  seeded_hash.cpp)
# Alone, so that a program can bring its own (tests/memory_model).
set(ALONE assert.cpp)
