set(SOURCES journal_test.cpp word_test.cpp)
