# The program build/<preset>/zerohop, its installation and the Debian package.
#
# An installation carries its own copy of the model library in lib/zerohop, because no distribution
# ships this release of it. The libraries find each other through their own run path ($ORIGIN).
add_executable(zerohop src/app/main.cc)
target_link_libraries(zerohop PRIVATE zh_app zh_options)
set_target_properties(zerohop PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
if(zh_llama_files)
  # One run path for both places, with a link in the build folder. CMake's own way, a different path
  # at installation, leaves an empty entry in the first one: the current directory.
  list(GET zh_llama_files 0 _first)
  get_filename_component(_llama_lib_dir "${_first}" DIRECTORY)
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
  file(CREATE_LINK "${_llama_lib_dir}" "${CMAKE_BINARY_DIR}/lib/zerohop" SYMBOLIC)
  set_target_properties(zerohop PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN/../lib/zerohop:$ORIGIN/lib/zerohop")
endif()

install(TARGETS zerohop RUNTIME DESTINATION bin)
if(zh_llama_files)
  install(FILES ${zh_llama_files} DESTINATION lib/zerohop)
endif()
install(FILES LICENSE NOTICE ${zh_llama_licences} DESTINATION share/doc/zerohop)
if(EXISTS "${CMAKE_SOURCE_DIR}/README.md")
  install(FILES README.md DESTINATION share/doc/zerohop)
endif()
install(FILES deploy/systemd/zerohop.service DESTINATION lib/systemd/system)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME zerohop)
set(CPACK_PACKAGE_CONTACT "The Zerohop authors <zerohop@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS ca-certificates)
# `zerohop pull` gets the default model with pip.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-venv, poppler-utils")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${_llama_lib_dir}")
include(CPack)
