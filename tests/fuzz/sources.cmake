set(SOURCES base_fuzz.cpp journal_fuzz.cpp records_fuzz.cpp request_fuzz.cpp)
