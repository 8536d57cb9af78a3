set(SOURCES
  ../engine/failing_memory.cpp ../http/live.cpp ../loadgen/fake_server.cpp ../support/certificate.cpp
  ../store/failing_vfs.cpp ../support/failing_libraries.cpp ../support/tls_client.cpp allocations_test.cpp asked_backup_test.cpp background_work_test.cpp backup_answer_test.cpp
  backup_command_test.cpp backup_target_test.cpp backup_test.cpp cli_test.cpp clock_watch_test.cpp config_test.cpp
  connections_without_memory_test.cpp data_folder_test.cpp exit_codes_test.cpp file_limit_test.cpp keeper_test.cpp key_file_test.cpp
  log_without_memory_test.cpp manifest_test.cpp online_backups_test.cpp poor_house.cpp poor_requests.cpp rebuild_test.cpp
  repeating_thread_test.cpp requests_without_memory_test.cpp restart_grace_test.cpp restored_state_test.cpp salvage_test.cpp
  store_without_memory_test.cpp threads_without_memory_test.cpp told_events_test.cpp unfinished_test.cpp
  verify_test.cpp
  worker_pool_test.cpp)
set(ALONE keeper_test.cpp store_without_memory_test.cpp)  # they use the engine's test namespace
