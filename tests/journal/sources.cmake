set(SOURCES
  damage_sweep_test.cpp journal_test.cpp recovery_test.cpp word_test.cpp)
