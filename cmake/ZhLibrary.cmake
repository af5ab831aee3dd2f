# One CMake target per folder under src/, with the rank rule of src/RANKS checked at configure time.
#
#   zh_library(cache DEPS core)
#
# builds, from the files of src/cache:
#
#   zh_cache             every *.cc that is none of the following
#   zh_cache_test        *_test.cc, one GoogleTest program, one ctest entry
#   zh_cache_bench       *_bench.cc, one google/benchmark program (with ZEROHOP_BENCH)
#   zh_cache_NAME_fuzz   NAME_fuzz.cc, each a program of its own, run by ctest on tests/corpus/NAME
#
# Files are globbed so that no source can be an orphan that nothing compiles.

file(STRINGS "${CMAKE_SOURCE_DIR}/src/RANKS" _zh_rank_lines REGEX "^[0-9]")
foreach(_line IN LISTS _zh_rank_lines)
  if(_line MATCHES "^([0-9]+) ([a-z_]+)(: (.*))?$")
    set(ZH_RANK_${CMAKE_MATCH_2} ${CMAKE_MATCH_1})
    string(REPLACE " " ";" ZH_ALLOWED_${CMAKE_MATCH_2} "${CMAKE_MATCH_4}")
  endif()
endforeach()

function(_zh_check_rank folder dep)
  if(NOT DEFINED ZH_RANK_${folder} OR NOT DEFINED ZH_RANK_${dep})
    message(FATAL_ERROR "src/RANKS does not know '${folder}' or '${dep}'")
  endif()
  if(NOT ZH_RANK_${dep} LESS ZH_RANK_${folder})
    message(FATAL_ERROR "rank rule: ${folder} (${ZH_RANK_${folder}}) may not use ${dep} "
                        "(${ZH_RANK_${dep}}); only lower ranks")
  endif()
  if(ZH_ALLOWED_${folder} AND ZH_RANK_${dep} EQUAL 3 AND NOT dep IN_LIST ZH_ALLOWED_${folder})
    message(FATAL_ERROR "rank rule: ${folder} may use of rank 3 only: ${ZH_ALLOWED_${folder}}")
  endif()
endfunction()

# DEPS: other folders. LINK: outside libraries that stay inside the folder. LINK_PUBLIC: those that
# its headers show. TEST_DEPS: what only its tests and fuzz targets need. EXCLUDE: files that are
# compiled elsewhere.
function(zh_library folder)
  cmake_parse_arguments(ARG "" "" "DEPS;LINK;LINK_PUBLIC;TEST_DEPS;EXCLUDE" ${ARGN})
  set(dir "${CMAKE_SOURCE_DIR}/src/${folder}")
  file(GLOB sources CONFIGURE_DEPENDS "${dir}/*.cc")
  foreach(kind test bench fuzz)
    set(${kind}_files ${sources})
    list(FILTER ${kind}_files INCLUDE REGEX "_${kind}\\.cc$")
  endforeach()
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")
  foreach(name IN LISTS ARG_EXCLUDE)
    list(REMOVE_ITEM sources "${dir}/${name}")
  endforeach()

  if(sources)
    add_library(zh_${folder} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(zh_${folder} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(zh_${folder} ${scope} "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(zh_${folder} ${scope} zh_options ${ARG_LINK_PUBLIC})
  if(sources)
    target_link_libraries(zh_${folder} PRIVATE ${ARG_LINK})
  endif()
  foreach(dep IN LISTS ARG_DEPS)
    _zh_check_rank(${folder} ${dep})
    target_link_libraries(zh_${folder} ${scope} zh_${dep})
  endforeach()

  set(link zh_${folder} ${ARG_TEST_DEPS} ${ARG_LINK})
  if(test_files AND ZEROHOP_TESTS)
    zh_test(zh_${folder}_test SOURCES ${test_files} LINK ${link})
  endif()
  if(bench_files AND ZEROHOP_BENCH)
    add_executable(zh_${folder}_bench ${bench_files})
    target_link_libraries(zh_${folder}_bench PRIVATE ${link} benchmark::benchmark_main)
  endif()
  if(ZEROHOP_TESTS)
    foreach(file IN LISTS fuzz_files)
      get_filename_component(name "${file}" NAME)
      string(REGEX REPLACE "_fuzz\\.cc$" "" name "${name}")
      zh_fuzz(${folder} ${name} SOURCE "${file}" LINK ${link})
    endforeach()
  endif()
endfunction()

# A GoogleTest program, run as one ctest entry. Its working directory is the source tree, so that
# tests name data files by their place in the repository.
function(zh_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  # A third of a build is test code, and test code runs once: without optimisation it compiles in
  # two thirds of the time (limiter_test.cc: 2.2 s with -O1 -g1, 1.4 s so).
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0;-g0>)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS gtest)
endfunction()

# A fuzz target: a file that defines LLVMFuzzerTestOneInput. GCC has no fuzzer, so the driver in
# tests/fuzz runs it on the corpus and on seeded mutations of it; with clang and ZEROHOP_LIBFUZZER
# it is a libFuzzer program. The ctest entry does a fixed number of runs, so it repeats exactly.
option(ZEROHOP_LIBFUZZER "Link the fuzz targets with libFuzzer (clang only)" OFF)
function(zh_fuzz folder name)
  cmake_parse_arguments(ARG "" "SOURCE" "LINK" ${ARGN})
  set(target zh_${folder}_${name}_fuzz)
  set(corpus "${CMAKE_SOURCE_DIR}/tests/corpus/${name}")
  if(ZEROHOP_LIBFUZZER)
    add_executable(${target} ${ARG_SOURCE})
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    if(NOT TARGET zh_fuzz_driver)
      add_library(zh_fuzz_driver OBJECT "${CMAKE_SOURCE_DIR}/tests/fuzz/driver.cc")
      target_include_directories(zh_fuzz_driver PRIVATE "${CMAKE_SOURCE_DIR}/src")
      target_link_libraries(zh_fuzz_driver PRIVATE zh_options)
    endif()
    add_executable(${target} ${ARG_SOURCE} $<TARGET_OBJECTS:zh_fuzz_driver>)
    add_test(NAME ${target} COMMAND ${target} --runs 2000 --seed 1 "${corpus}"
             WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
    set_tests_properties(${target} PROPERTIES TIMEOUT 600 LABELS fuzz)
  endif()
  target_link_libraries(${target} PRIVATE ${ARG_LINK})
endfunction()
