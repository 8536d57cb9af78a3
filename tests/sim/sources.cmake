set(SOURCES sale_model.cpp sim_disk.cpp simulation_test.cpp world.cpp world_start.cpp
  world_verbs.cpp)
