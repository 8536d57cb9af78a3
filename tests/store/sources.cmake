set(SOURCES
  anew_test.cpp
  catalogue_test.cpp
  cut_wal_test.cpp
  failing_disk_test.cpp failing_reads_test.cpp
  failing_vfs.cpp
  inspection_test.cpp
  projection_test.cpp
  reopen_test.cpp
  snapshot_test.cpp
  store_test.cpp
  unmade_file_test.cpp)
