set(SOURCES
  catalogue_test.cpp
  cut_wal_test.cpp
  projection_test.cpp
  reopen_test.cpp
  snapshot_test.cpp
  store_test.cpp)
