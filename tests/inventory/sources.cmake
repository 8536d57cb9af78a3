set(SOURCES claims_model_test.cpp claims_stress_test.cpp claims_test.cpp edits_model_test.cpp edits_test.cpp restore_test.cpp search_test.cpp)
