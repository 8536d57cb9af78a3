set(SOURCES config.cpp config_file.cpp data_folder.cpp option_table.cpp restart_grace.cpp
            worker_pool.cpp)
set(LINKS CLI11::CLI11)
