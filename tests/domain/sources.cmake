set(SOURCES event_test.cpp layout_test.cpp layout_codec_test.cpp)
