# The model library as the imported target zerohop::llama. Folder layout of ZEROHOP_LLAMA_DIR:
# include/ (llama.h, ggml*.h), common/ (chat.h …), lib/ (the shared libraries).
set(ZEROHOP_LLAMA_DIR "" CACHE PATH "Folder with include/, common/ and lib/ of libllama")
if(NOT ZEROHOP_LLAMA_DIR)
  message(FATAL_ERROR "set ZEROHOP_LLAMA_DIR")
endif()
add_library(zerohop::llama INTERFACE IMPORTED GLOBAL)
file(GLOB _llama_libs "${ZEROHOP_LLAMA_DIR}/lib/libllama*.so" "${ZEROHOP_LLAMA_DIR}/lib/libggml.v*.so"
     "${ZEROHOP_LLAMA_DIR}/lib/libggml-base.so")
target_link_libraries(zerohop::llama INTERFACE ${_llama_libs})
target_include_directories(zerohop::llama SYSTEM INTERFACE "${ZEROHOP_LLAMA_DIR}/include"
                           "${ZEROHOP_LLAMA_DIR}/common")
target_compile_definitions(zerohop::llama INTERFACE ZEROHOP_LLAMA_LIB_DIR="${ZEROHOP_LLAMA_DIR}/lib")
