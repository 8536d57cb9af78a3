set(SOURCES plan_import_test.cpp plan_lint_test.cpp plan_real_test.cpp)
