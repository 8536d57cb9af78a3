set(SOURCES tidy_test.cpp rules_test.cpp rules.cpp tree.cpp layers.cpp promises.cpp source_file.cpp
  function_lengths.cpp)
