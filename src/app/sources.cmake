set(SOURCES bench_sale.cpp check_config.cpp cli.cpp config.cpp config_file.cpp data_folder.cpp
            demo.cpp expiry_thread.cpp import.cpp journal_gate.cpp keeper.cpp manifest.cpp
            manifest_text.cpp option_table.cpp restart_grace.cpp restored_state.cpp serve.cpp
            server.cpp worker_pool.cpp)
set(LINKS CLI11::CLI11)
