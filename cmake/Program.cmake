# The program build/<preset>/zerohop, its installation and the Debian package.
#
# An installation carries its own copy of the model library in lib/zerohop, because no distribution
# ships this release of it. The libraries find each other through their own run path ($ORIGIN).
add_executable(zerohop src/app/main.cc)
target_link_libraries(zerohop PRIVATE zh_app zh_options)
set_target_properties(zerohop PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}"
  INSTALL_RPATH "$ORIGIN/../lib/zerohop")

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
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS python3-venv)
if(zh_llama_files)
  list(GET zh_llama_files 0 _first)
  get_filename_component(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${_first}" DIRECTORY)
endif()
include(CPack)
