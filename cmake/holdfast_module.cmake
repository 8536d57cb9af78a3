# holdfast_module(name DEPENDS other...) makes the library holdfast_<name> from the sources that
# src/<name>/sources.cmake lists by hand. A module without sources is an interface library, so that
# its link edges, which are the layer graph, exist all the same.
# TEXTS names files of the module's folder (or absolute ones) that are embedded as string_views.
include(embed_text)

function(holdfast_module name)
  cmake_parse_arguments(MODULE "" "" "DEPENDS" ${ARGN})
  set(target holdfast_${name})
  set(SOURCES)
  set(LINKS)  # third-party targets of this module
  set(TEXTS)
  set(ALONE)  # sources that a release build keeps out of its batches
  include(${CMAKE_SOURCE_DIR}/src/${name}/sources.cmake)
  list(TRANSFORM SOURCES PREPEND ${CMAKE_SOURCE_DIR}/src/${name}/)
  list(TRANSFORM ALONE PREPEND ${CMAKE_SOURCE_DIR}/src/${name}/)
  set_source_files_properties(${ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  list(TRANSFORM MODULE_DEPENDS PREPEND holdfast_)
  if(SOURCES)
    add_library(${target} STATIC ${SOURCES})
    target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/include
                                         PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${target} PUBLIC ${MODULE_DEPENDS} holdfast_dependencies ${LINKS}
                                    PRIVATE holdfast_options)
    foreach(text IN LISTS TEXTS)
      get_filename_component(text ${text} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR}/src/${name})
      holdfast_embed_text(${target} holdfast::${name} ${text})
    endforeach()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(${target} INTERFACE ${MODULE_DEPENDS} holdfast_dependencies ${LINKS})
  endif()
endfunction()
