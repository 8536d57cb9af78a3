# Third-party libraries, all from Debian 12 packages; as SYSTEM, so that our warnings stay ours.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
set(Boost_USE_STATIC_LIBS ${HOLDFAST_STATIC_DEPS})
find_package(Boost 1.81.0 EXACT CONFIG REQUIRED COMPONENTS headers json url)
find_package(fmt 9 CONFIG REQUIRED)
if(HOLDFAST_STATIC_DEPS)
  set(OPENSSL_USE_STATIC_LIBS ON)
  # FindSQLite3 has no switch for static libraries.
  set(saved_suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
endif()
find_package(SQLite3 3.40 REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
if(HOLDFAST_STATIC_DEPS)
  set(CMAKE_FIND_LIBRARY_SUFFIXES ${saved_suffixes})
endif()
# Time zones; Debian has it as a shared library only. At run time it reads the tzdata package.
find_package(date 3.0 CONFIG REQUIRED)
find_package(CLI11 2.1 CONFIG REQUIRED)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
find_path(SPDLOG_INCLUDE_DIR spdlog/spdlog.h REQUIRED)

add_library(holdfast_dependencies INTERFACE)
# BOOST_DISABLE_ASSERTS: Beast 1.81 aborts on input it should refuse (RELIABILITY F4); our own
# assertions are HOLDFAST_ASSERT and stay on in release.
target_compile_definitions(holdfast_dependencies INTERFACE
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_ASIO_NO_TS_EXECUTORS BOOST_DISABLE_ASSERTS FMT_HEADER_ONLY=1 SPDLOG_FMT_EXTERNAL
  TOML_HEADER_ONLY=1 HOLDFAST_VERSION="${PROJECT_VERSION}")
target_link_libraries(holdfast_dependencies INTERFACE
  Boost::headers fmt::fmt-header-only Threads::Threads ${CMAKE_DL_LIBS})
