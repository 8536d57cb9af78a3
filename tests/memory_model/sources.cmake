set(SOURCES
  assertion.cpp change_suites.cpp claim_suites.cpp count_suites.cpp fit_suites.cpp main.cpp note_suites.cpp
  upkeep_suites.cpp weak_order.cpp)
