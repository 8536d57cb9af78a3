set(SOURCES
  audit.cpp background_work.cpp backup.cpp backup_answer.cpp backup_command.cpp backup_target.cpp
  bench_sale.cpp check_config.cpp cli.cpp clock_watch.cpp config.cpp config_file.cpp data_folder.cpp
  demo.cpp exit_codes.cpp file_limit.cpp folder_owner.cpp import.cpp journal_gate.cpp
  keeper.cpp key_file.cpp manifest.cpp manifest_text.cpp old_store.cpp
  online_backups.cpp option_table.cpp read_lock.cpp rebuild.cpp repeating_thread.cpp report.cpp
  restart_grace.cpp resting_folder.cpp restored_state.cpp salvage.cpp scratch_folder.cpp serve.cpp
  server.cpp stop_signals.cpp tls_files.cpp unfinished.cpp verify.cpp worker_pool.cpp)
set(LINKS Boost::json CLI11::CLI11)
