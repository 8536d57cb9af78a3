set(SOURCES catalogue_test.cpp projection_test.cpp store_test.cpp)
