set(SOURCES
  base_file_test.cpp buffer_test.cpp crash_test.cpp damage_sweep_test.cpp disk_calls_test.cpp disk_test.cpp
  fault_test.cpp file_failure_test.cpp forged_headers_test.cpp forged_test.cpp format_test.cpp health_test.cpp journal_copy_test.cpp
  journal_test.cpp late_failure_test.cpp meta_test.cpp nth_call_test.cpp recovery_test.cpp restart_cost_test.cpp salvage_test.cpp
  sleeper_model_test.cpp slow_disk_test.cpp system_calls.cpp tail_reader_test.cpp turn_test.cpp upkeep_test.cpp whole_files_test.cpp
  word_test.cpp)
