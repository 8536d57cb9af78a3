set(SOURCES
  accessible_model_test.cpp
  best_rule_test.cpp
  candidates_model_test.cpp
  claims_model_test.cpp
  claims_stress_test.cpp
  claims_test.cpp
  counted_out_test.cpp
  edits_model_test.cpp
  edits_test.cpp
  expiry_model_test.cpp
  fit_verdicts_test.cpp
  limits_model_test.cpp
  limits_stress_test.cpp
  market_stress_test.cpp
  no_room_for_ends_test.cpp
  rare_ways_test.cpp
  refused_search_test.cpp
  restore_test.cpp
  reuse_model_test.cpp
  row_notes_model_test.cpp
  search_test.cpp
  searches_model_test.cpp
  split_rule_test.cpp
  user_limits_test.cpp
  wheel_model_test.cpp)
# Each has a House of its own (tests/planted/run.sh makes a program of each).
set(ALONE edits_model_test.cpp limits_model_test.cpp)
