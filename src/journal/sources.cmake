set(SOURCES
  base_file.cpp buffer.cpp disk_posix.cpp file_failure.cpp format.cpp group_reader.cpp journal.cpp journal_copy.cpp
  journal_core.cpp meta.cpp quarantine.cpp recovery.cpp salvage.cpp salvage_copy.cpp
  segment_files.cpp segment_writer.cpp sleeper.cpp spare.cpp tail_reader.cpp upkeep.cpp
  whole_files.cpp)
