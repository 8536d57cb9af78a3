set(SOURCES json_decoder_test.cpp json_reader_test.cpp problems_test.cpp)
