# Compiler and linker settings shared by every target of ours; third-party headers are SYSTEM.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(holdfast_options INTERFACE)
target_compile_options(holdfast_options INTERFACE
  -march=x86-64-v2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast
  -Wnon-virtual-dtor -fstack-protector-strong -fstack-clash-protection -fcf-protection)
if(CMAKE_UNITY_BUILD)
  # In a batch GCC takes each source for a header and warns of classes with parts of its own.
  target_compile_options(holdfast_options INTERFACE -Wno-subobject-linkage)
endif()
target_link_options(holdfast_options INTERFACE -pie -Wl,-z,relro,-z,now)
target_compile_definitions(holdfast_options INTERFACE _GLIBCXX_ASSERTIONS)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT HOLDFAST_SANITIZE)
  target_compile_definitions(holdfast_options INTERFACE _FORTIFY_SOURCE=2)
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  target_link_options(holdfast_options INTERFACE -fuse-ld=mold)
endif()
if(HOLDFAST_SANITIZE)
  target_compile_options(holdfast_options INTERFACE -fsanitize=${HOLDFAST_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(holdfast_options INTERFACE -fsanitize=${HOLDFAST_SANITIZE})
  if(HOLDFAST_SANITIZE MATCHES "thread")
    # Asio's fences are invisible to TSan and make g++ warn.
    target_compile_definitions(holdfast_options INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
    target_compile_options(holdfast_options INTERFACE -Wno-tsan)
  endif()
endif()
