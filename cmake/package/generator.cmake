# Read by cpack for each generator: what differs between the Debian packages and the folder.
if(CPACK_GENERATOR STREQUAL "TGZ")
  # One folder of all that runs, without the library for who builds with it.
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL})
  list(REMOVE_ITEM CPACK_COMPONENTS_ALL libnormscope-dev)
  set(CPACK_INSTALL_CMAKE_PROJECTS "")
  foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    list(APPEND CPACK_INSTALL_CMAKE_PROJECTS "${CPACK_NORMSCOPE_BINARY_DIR}" normscope "${component}" /)
  endforeach()
  set(CPACK_COMPONENTS_ALL "")
  set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
  set(CPACK_PACKAGING_INSTALL_PREFIX "")
endif()
