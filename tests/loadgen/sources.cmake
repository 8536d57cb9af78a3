set(SOURCES buyer_test.cpp checks_test.cpp child_server_test.cpp client_test.cpp fake_server.cpp picture_test.cpp response_reader_test.cpp sale_test.cpp url_test.cpp wire_test.cpp)
