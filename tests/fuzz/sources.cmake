set(SOURCES journal_fuzz.cpp records_fuzz.cpp)
