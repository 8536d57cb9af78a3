set(SOURCES backup_mount_test.cpp backup_test.cpp bad_bodies.cpp bad_input_test.cpp bad_requests.cpp bench_engine_test.cpp bench_sale_test.cpp
            command_line_test.cpp crowd_test.cpp descriptors_test.cpp fronts_test.cpp folder_owner_test.cpp full_journal_test.cpp import_command_test.cpp keyed_test.cpp kill_test.cpp limits_test.cpp pause_test.cpp power_cut_test.cpp
            resting_folder_test.cpp restored_tokens_test.cpp serve_test.cpp soak_test.cpp stop_test.cpp store_test.cpp stream_test.cpp tls_test.cpp
            ../../bench/soak/house.cpp ../../bench/soak/scrape.cpp ../../bench/soak/verdict.cpp ../http/live.cpp ../support/brief_holds.cpp ../support/buyer.cpp ../support/certificate.cpp ../support/child.cpp ../support/ledger.cpp ../support/mounts.cpp
            ../support/server_process.cpp ../support/shoppers.cpp ../support/tls_client.cpp)
# The sanitizers want to be the first library of a process, and so does the fault shim.
if(NOT HOLDFAST_SANITIZE)
  list(APPEND SOURCES actor.cpp backup_fault_test.cpp clock_jump_test.cpp fault_loop_test.cpp full_disk_test.cpp
                      memory_kill_test.cpp resting_fault_test.cpp scenario_kill_test.cpp store_fault_test.cpp thin_volume_test.cpp
                      ../support/memory_group.cpp)
  # Preloaded into the server, so that a chosen system call fails or is its last.
  set(SHIM_SOURCE fault_shim.cpp)
  add_library(fault_shim MODULE ${CMAKE_CURRENT_SOURCE_DIR}/e2e/${SHIM_SOURCE})
  # The same, so that its clocks jump.
  set(CLOCK_SHIM_SOURCE clock_shim.cpp)
  add_library(clock_shim MODULE ${CMAKE_CURRENT_SOURCE_DIR}/e2e/${CLOCK_SHIM_SOURCE})
  target_compile_options(fault_shim PRIVATE -O1 -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  target_compile_options(clock_shim PRIVATE -O1 -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # scripts/coverage.sh counts what the server does, and would write the counts through them.
    target_compile_options(fault_shim PRIVATE -fno-profile-instr-generate -fno-coverage-mapping)
    target_compile_options(clock_shim PRIVATE -fno-profile-instr-generate -fno-coverage-mapping)
  endif()
endif()
# The whole program: a sale by 50 clients, two kill -9, and every promise checked.
add_test(NAME "e2e: bench sale" COMMAND holdfast bench sale --clients 50 --json)
set_tests_properties("e2e: bench sale" PROPERTIES TIMEOUT 300 LABELS e2e)
