# Language level, warnings and build types, carried by the interface target zh_options.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(ZEROHOP_CCACHE ccache)
if(ZEROHOP_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ZEROHOP_CCACHE}")
endif()

# ZEROHOP_ASSERTS keeps ZH_DCHECK alive in optimised builds (preset relassert).
option(ZEROHOP_ASSERTS "Compile debug checks in" OFF)
set(ZEROHOP_SANITIZE "" CACHE STRING "address,undefined or thread; empty for none")

add_library(zh_options INTERFACE)
target_compile_features(zh_options INTERFACE cxx_std_20)
target_compile_options(zh_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual
  -Woverloaded-virtual -Wimplicit-fallthrough -Wunused)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false positives of these three inside coroutines and std::variant.
  target_compile_options(zh_options INTERFACE
    -Wno-maybe-uninitialized -Wno-mismatched-new-delete -Wno-missing-field-initializers)
else()
  target_compile_options(zh_options INTERFACE -Wno-missing-field-initializers)
endif()
if(ZEROHOP_ASSERTS OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(zh_options INTERFACE ZEROHOP_ASSERTS=1)
endif()
if(ZEROHOP_SANITIZE)
  add_compile_options(-fsanitize=${ZEROHOP_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ZEROHOP_SANITIZE})
endif()
