set(SOURCES event_body_test.cpp event_sections_test.cpp events_create_test.cpp events_read_test.cpp times_test.cpp json_decoder_test.cpp json_reader_test.cpp problems_test.cpp)
