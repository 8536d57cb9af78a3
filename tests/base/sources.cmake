set(SOURCES clock_test.cpp crc32c_test.cpp descriptor_test.cpp histogram_test.cpp log_test.cpp seeded_hash_test.cpp)
