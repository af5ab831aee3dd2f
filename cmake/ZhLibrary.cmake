# One CMake target per folder under src/, with the rank rule of src/RANKS checked at configure time.
#
#   zh_library(cache DEPS core)
#
# builds zh_cache from every *.cc in the folder, and from *_test.cc the test program zh_cache_test.
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

function(zh_library folder)
  cmake_parse_arguments(ARG "" "" "DEPS;LINK;LINK_PUBLIC;TEST_DEPS;EXCLUDE" ${ARGN})
  set(dir "${CMAKE_SOURCE_DIR}/src/${folder}")
  file(GLOB sources CONFIGURE_DEPENDS "${dir}/*.cc")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
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
  if(ARG_LINK AND sources)
    target_link_libraries(zh_${folder} PRIVATE ${ARG_LINK})
  endif()
  foreach(dep IN LISTS ARG_DEPS)
    _zh_check_rank(${folder} ${dep})
    target_link_libraries(zh_${folder} ${scope} zh_${dep})
  endforeach()

  if(tests AND ZEROHOP_TESTS)
    zh_test(zh_${folder}_test SOURCES ${tests} LINK zh_${folder} ${ARG_TEST_DEPS} ${ARG_LINK})
  endif()
endfunction()

# A GoogleTest program, run as one ctest entry. Its working directory is the source tree, so that
# tests name data files by their place in the repository.
function(zh_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
endfunction()
