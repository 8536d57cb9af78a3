set(SOURCES event_body_test.cpp times_test.cpp json_decoder_test.cpp json_reader_test.cpp problems_test.cpp)
