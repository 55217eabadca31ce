# Targets of this project. Every folder under src/ is one library whose sources are the .cpp files in it;
# every folder under tests/ that mirrors one is one test program.

add_library(wattune_options INTERFACE)
target_compile_features(wattune_options INTERFACE cxx_std_20)
set_target_properties(wattune_options PROPERTIES EXPORT_NAME options)
target_include_directories(wattune_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/wattune>)
# Warnings are for our own code, not for that of the programs that use the installed libraries.
target_compile_options(wattune_options INTERFACE
                       $<BUILD_INTERFACE:-Wall;-Wextra;-Wconversion;$<$<BOOL:${WATTUNE_WARNINGS_AS_ERRORS}>:-Werror>>)
if(WATTUNE_SANITIZE)
  target_compile_options(wattune_options INTERFACE -fsanitize=${WATTUNE_SANITIZE} -fno-sanitize-recover=all
                         -fno-omit-frame-pointer)
  target_link_options(wattune_options INTERFACE -fsanitize=${WATTUNE_SANITIZE})
endif()
# Without this the fuzzer does not see which code of the libraries an input reaches.
if(WATTUNE_FUZZERS)
  target_compile_options(wattune_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# wattune_library(NAME DEPENDS folder... LINK external-target...)
# The folder being read becomes the static library wattune_NAME; nested folders are given as backend_opencl and so on.
function(wattune_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK;PRIVATE_LINK")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(target wattune_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE ${arg_PRIVATE_LINK})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  list(TRANSFORM arg_DEPENDS PREPEND wattune_)
  target_link_libraries(${target} ${scope} wattune_options ${arg_DEPENDS} ${arg_LINK})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY WATTUNE_LIBRARIES ${target})
endfunction()

# A main.cpp beside them takes the place of Google Test's own.
# wattune_test(NAME DEPENDS folder... [LINK external-target...] [LABELS label...])
function(wattune_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK;LABELS")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/main.cpp)
  set(target wattune_${name}_test)
  add_executable(${target} ${sources})
  list(TRANSFORM arg_DEPENDS PREPEND wattune_)
  target_link_libraries(${target} PRIVATE wattune_options ${arg_DEPENDS} ${arg_LINK} GTest::gmock_main)
  target_compile_definitions(${target} PRIVATE WATTUNE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             WATTUNE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}." PROPERTIES
                       LABELS "${arg_LABELS}" TIMEOUT 300)
endfunction()

# wattune_fuzzer(NAME DEPENDS folder...): the libFuzzer program of NAME_fuzz.cpp in the folder being read.
function(wattune_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS")
  list(TRANSFORM arg_DEPENDS PREPEND wattune_)
  add_executable(wattune_${name}_fuzz ${name}_fuzz.cpp)
  target_link_libraries(wattune_${name}_fuzz PRIVATE wattune_options ${arg_DEPENDS})
  target_compile_options(wattune_${name}_fuzz PRIVATE -fsanitize=fuzzer)
  target_link_options(wattune_${name}_fuzz PRIVATE -fsanitize=fuzzer)
endfunction()
