set(SOURCES best_available_golden_test.cpp plan_import_test.cpp plan_lint_test.cpp plan_real_test.cpp)
