# Text files inside the executable. holdfast_embed_text(<target> <namespace> <file>) gives the target
# `std::string_view const <namespace>::embedded::<name>`, where <name> is the file's name with every
# character that a C++ name cannot hold as an underscore: demo_plan.json is demo_plan_json.
# As a script (cmake -DIN= -DOUT= -DNAMESPACE= -DNAME= -P) it writes the source file.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${IN} text)
  # A literal may hold 64 KiB in the standard's minimum; pieces are joined by the compiler.
  string(LENGTH "${text}" length)
  set(literals "")
  set(start 0)
  while(start LESS length)
    string(SUBSTRING "${text}" ${start} 16000 piece)
    string(APPEND literals "\n    R\"hf_text(${piece})hf_text\"")
    math(EXPR start "${start} + 16000")
  endwhile()
  file(WRITE ${OUT} "#include <string_view>\n\nnamespace ${NAMESPACE}::embedded {\n"
    "extern std::string_view const ${NAME};\nstd::string_view const ${NAME} =${literals};\n"
    "}  // namespace ${NAMESPACE}::embedded\n")
  return()
endif()

set(HOLDFAST_EMBED_TEXT ${CMAKE_CURRENT_LIST_FILE})

function(holdfast_embed_text target namespace file)
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} name)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded/${target}_${name}.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DIN=${file} -DOUT=${source} -DNAMESPACE=${namespace} -DNAME=${name}
            -P ${HOLDFAST_EMBED_TEXT}
    DEPENDS ${file} ${HOLDFAST_EMBED_TEXT} VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
