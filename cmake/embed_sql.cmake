# holdfast_embed_sql(target file...) makes a library of the named files of sql/, in that order, as
# holdfast::store::migrations() of src/store/migrations.hpp. Done while configuring; a change of a
# file configures again.
function(holdfast_embed_sql target)
  set(rows)
  foreach(file ${ARGN})
    set(path ${CMAKE_SOURCE_DIR}/sql/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} text)
    string(APPEND rows "    {\"${file}\", R\"sql(${text})sql\"},\n")
  endforeach()
  set(generated ${CMAKE_BINARY_DIR}/generated/${target}.cpp)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT [=[
#include "store/migrations.hpp"

namespace holdfast::store {
namespace {
constexpr Migration all[] = {
@rows@};
}  // namespace

std::span<Migration const> migrations() noexcept { return all; }

}  // namespace holdfast::store
]=])
  add_library(${target} STATIC ${generated})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE holdfast_options)
endfunction()
