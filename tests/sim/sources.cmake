set(SOURCES crash_states.cpp sale_model.cpp sim_damage.cpp sim_disk.cpp simulation_test.cpp trace_test.cpp
  traced_disk.cpp traced_sale.cpp world.cpp world_claims.cpp world_history.cpp world_start.cpp
  world_verbs.cpp)
