# The model library as the imported target zerohop::llama. Ways to get it, in this order:
#
#   ZEROHOP_LLAMA_DIR=DIR     a folder with include/ (llama.h, ggml*.h), common/ (chat.h …) and
#                             lib/ (the shared libraries)
#   ZEROHOP_LLAMA=system      an installed llama.cpp that find_package or pkg-config finds
#   ZEROHOP_LLAMA=prebuilt    the pinned prebuilt libraries, fetched once into the user's cache
#   ZEROHOP_LLAMA=source      the same release compiled once into the user's cache (some minutes)
#   ZEROHOP_LLAMA=auto        prebuilt where this platform has a pinned package, else source
set(ZEROHOP_LLAMA_DIR "" CACHE PATH "Folder with include/, common/ and lib/ of libllama")
set(ZEROHOP_LLAMA "auto" CACHE STRING "auto, prebuilt, source or system")
set_property(CACHE ZEROHOP_LLAMA PROPERTY STRINGS auto prebuilt source system)

add_library(zerohop::llama INTERFACE IMPORTED GLOBAL)

# Uses a folder of the layout above; `zh_llama_files` and `zh_llama_licences` list what
# an installation has to carry.
function(_zh_llama_from_dir dir)
  if(NOT EXISTS "${dir}/include/llama.h" OR NOT EXISTS "${dir}/common/chat.h")
    message(FATAL_ERROR "no include/llama.h and common/chat.h under '${dir}' (ZEROHOP_LLAMA_DIR)")
  endif()
  file(GLOB all "${dir}/lib/*.so" "${dir}/lib/*.so.*" "${dir}/lib/*.dylib")
  set(link ${all})
  # The back ends are loaded at run time, chosen by processor: never linked.
  set(names "llama|llama-common|ggml|ggml-base")
  list(FILTER link INCLUDE REGEX "/lib(${names})(\\.v[0-9.]+)?\\.(so|dylib)$")
  list(LENGTH link count)
  if(count LESS 4)
    message(FATAL_ERROR "'${dir}/lib' lacks one of the libraries ${names}")
  endif()
  target_link_libraries(zerohop::llama INTERFACE ${link})
  target_include_directories(zerohop::llama SYSTEM INTERFACE "${dir}/include" "${dir}/common")
  file(GLOB licences "${dir}/LICENSE.*")
  set(zh_llama_files "${all}" PARENT_SCOPE)
  set(zh_llama_licences "${licences}" PARENT_SCOPE)
  message(STATUS "libllama: ${dir}")
endfunction()

function(_zh_llama_from_system)
  find_package(llama CONFIG QUIET)
  find_library(llama_common NAMES llama-common)
  find_path(llama_common_headers NAMES chat.h PATH_SUFFIXES llama/common llama-common llama)
  if(NOT llama_FOUND)
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
      pkg_check_modules(llama_pc QUIET IMPORTED_TARGET llama)
    endif()
  endif()
  if(NOT llama_common OR NOT llama_common_headers OR NOT (llama_FOUND OR llama_pc_FOUND))
    message(FATAL_ERROR "ZEROHOP_LLAMA=system: no installed llama.cpp with libllama-common and its "
                        "header chat.h. Set CMAKE_PREFIX_PATH, or use ZEROHOP_LLAMA=prebuilt.")
  endif()
  if(llama_FOUND)
    target_link_libraries(zerohop::llama INTERFACE llama)
  else()
    target_link_libraries(zerohop::llama INTERFACE PkgConfig::llama_pc)
  endif()
  target_link_libraries(zerohop::llama INTERFACE "${llama_common}")
  target_include_directories(zerohop::llama SYSTEM INTERFACE "${llama_common_headers}")
  message(STATUS "libllama: system, ${llama_common}")
endfunction()

function(_zh_llama_fetch result)
  find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/dev" llama --llama "${ZEROHOP_LLAMA}"
    OUTPUT_VARIABLE dir OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "could not get libllama (above it says why); or set ZEROHOP_LLAMA_DIR")
  endif()
  set(${result} "${dir}" PARENT_SCOPE)
endfunction()

if(ZEROHOP_LLAMA_DIR)
  _zh_llama_from_dir("${ZEROHOP_LLAMA_DIR}")
elseif(ZEROHOP_LLAMA STREQUAL "system")
  _zh_llama_from_system()
else()
  _zh_llama_fetch(_zh_llama_dir)
  _zh_llama_from_dir("${_zh_llama_dir}")
endif()
