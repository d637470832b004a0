# generator.cmake is read by cpack for each generator: what differs between the Debian packages and the folder.

# linked_packages(PACKAGE FILE): adds what dpkg-shlibdeps finds that the file is linked with to what the package depends
# on. CPack would ask it too, but look into every file of the package first.
function(linked_packages package file)
  set(folder "${CPACK_NORMSCOPE_BINARY_DIR}/package/shlibdeps")
  file(WRITE "${folder}/debian/control" "Source: normscope\n\nPackage: ${package}\nArchitecture: any\n")
  set(private "")
  if(CPACK_NORMSCOPE_CUDA_LIBRARIES)
    set(private "-l${CPACK_NORMSCOPE_CUDA_LIBRARIES}")
  endif()
  set(asked dpkg-shlibdeps)
  if(CPACK_NORMSCOPE_SYSROOT)
    set(asked "${CMAKE_COMMAND}" -E env "DEB_HOST_ARCH=${CPACK_DEBIAN_PACKAGE_ARCHITECTURE}" dpkg-shlibdeps
      "--admindir=${CPACK_NORMSCOPE_SYSROOT}/var/lib/dpkg")
    file(GLOB folders "${CPACK_NORMSCOPE_SYSROOT}/usr/lib/*-linux-gnu" "${CPACK_NORMSCOPE_SYSROOT}/lib/*-linux-gnu")
    list(TRANSFORM folders PREPEND "-l")
    list(APPEND asked ${folders})
  endif()
  execute_process(COMMAND ${asked} --ignore-missing-info ${private} -O "-e${file}" WORKING_DIRECTORY "${folder}"
    OUTPUT_VARIABLE found ERROR_VARIABLE error RESULT_VARIABLE result)
  if(NOT result STREQUAL "0" OR NOT found MATCHES "shlibs:Depends=([^\n]*)")
    message(FATAL_ERROR "normscope: dpkg-shlibdeps ${file}: ${result} ${error}")
  endif()
  string(TOUPPER "CPACK_DEBIAN_${package}_PACKAGE_DEPENDS" depends)
  set(all ${${depends}} "${CMAKE_MATCH_1}")
  list(JOIN all ", " all)
  set(${depends} "${all}" PARENT_SCOPE)
endfunction()

if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package's own description begins with one; CPack would put another before it
  linked_packages(normscope "${CPACK_NORMSCOPE_BINARY_DIR}/normscope")
  if(CPACK_COMPONENTS_ALL MATCHES "normscope-cuda")
    linked_packages(normscope-cuda "${CPACK_NORMSCOPE_BINARY_DIR}/libnormscope_cuda.so")
  endif()
endif()

if(CPACK_GENERATOR STREQUAL "TGZ")
  # One folder has all that runs, without the library for who builds with it.
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
