# Language level, warnings and build types, carried by the interface target zh_options.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# The heavy arithmetic is in libggml, which comes compiled, so less optimisation costs little. A
# file that uses all of Asio and Beast takes 15.5 s with -O2 -g, 9.6 s with -O1 -g1 and 10.8 s with
# -O2 (GCC 12, 2 cores): daily builds use the second, releases the third. Most files take 1 to 3 s,
# for which precompiled headers were not worth their rules.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")

find_program(ZEROHOP_CCACHE ccache)
if(ZEROHOP_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ZEROHOP_CCACHE}")
endif()

# ZEROHOP_ASSERTS keeps ZH_DCHECK alive in optimised builds (preset relassert).
option(ZEROHOP_ASSERTS "Compile debug checks in" OFF)
option(ZEROHOP_WERROR "Treat warnings as errors" ON)
set(ZEROHOP_SANITIZE "" CACHE STRING "address, undefined or thread, or several with commas")

add_library(zh_options INTERFACE)
target_compile_features(zh_options INTERFACE cxx_std_20)
target_compile_options(zh_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual
  -Woverloaded-virtual -Wimplicit-fallthrough -Wunused -Wno-missing-field-initializers)
if(ZEROHOP_WERROR)
  target_compile_options(zh_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false positives of these inside coroutines and std::variant.
  target_compile_options(zh_options INTERFACE -Wno-maybe-uninitialized -Wno-mismatched-new-delete)
endif()
if(ZEROHOP_ASSERTS OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  # The second one checks bounds in the standard library. It changes no layout; _GLIBCXX_DEBUG
  # does, and breaks calls into the model library.
  target_compile_definitions(zh_options INTERFACE ZEROHOP_ASSERTS=1 _GLIBCXX_ASSERTIONS=1)
endif()
if(ZEROHOP_SANITIZE)
  add_compile_options(-fsanitize=${ZEROHOP_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ZEROHOP_SANITIZE})
  if(ZEROHOP_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code makes GCC see dangling pointers and overflows that are not there.
    target_compile_options(zh_options INTERFACE -Wno-stringop-overflow -Wno-array-bounds
                           -Wno-restrict -Wno-tsan)
  endif()
endif()
