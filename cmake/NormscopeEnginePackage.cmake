# The engine, and what trains, as a package of two components: find_package(normscope COMPONENTS engine) gives
# normscope::engine and, where it was built, training normscope::training. Both are in Debian's libnormscope-dev.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(component COMPONENT libnormscope-dev)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/normscope")

foreach(floor engine training)
  if(TARGET normscope_${floor})
    set_target_properties(normscope_${floor} PROPERTIES EXPORT_NAME ${floor})
    install(TARGETS normscope_${floor} EXPORT normscope-${floor} ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" ${component})
    install(EXPORT normscope-${floor} NAMESPACE normscope:: FILE normscope-${floor}-targets.cmake
      DESTINATION "${package_dir}" ${component})
  endif()
endforeach()

# Public headers can be included from outside. Headers between files of one room (parts of kernels and of a run, the
# passes of seal, the driver of the CUDA backend, how files are read) and headers for the tests are left out.
# tests/package/ checks that each public header finds what it includes.
#   normscope_install_headers(ROOT HEADER...): installs the public ones of these, which are named from a root on.
function(normscope_install_headers root)
  set(headers ${ARGN})
  list(FILTER headers EXCLUDE REGEX
    "(_inl|_impl|input_value|toml|codec|kept_spec|session_file|lab_trainer)\\.h$|/cpu/(tails|vector_math)\\.h$|/cuda/|/(oracle|op_cases)\\.def$")
  foreach(header IN LISTS headers)
    get_filename_component(folder "${header}" DIRECTORY)
    install(FILES "${root}/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/normscope/${folder}" ${component})
  endforeach()
endfunction()
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/engine/*.h" "${PROJECT_SOURCE_DIR}/engine/*.def")
if(TARGET normscope_training)
  file(GLOB_RECURSE of_training CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
    "${PROJECT_SOURCE_DIR}/training/*.h" "${PROJECT_SOURCE_DIR}/training/*.def")
  list(FILTER of_training EXCLUDE REGEX "^training/(files|experiments)/")  # the program's own files
  list(APPEND headers ${of_training})
endif()
normscope_install_headers("${PROJECT_SOURCE_DIR}" ${headers})
install(FILES "${PROJECT_SOURCE_DIR}/engine/cuda/loader.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/normscope/engine/cuda" ${component})
# Add-ons bring headers and rows of their own; what the core includes as chosen/ is in the build tree.
foreach(addon IN LISTS NORMSCOPE_CHOSEN_ADDONS)
  set(folder "${NORMSCOPE_FOLDER_OF_${addon}}")
  get_filename_component(root "${folder}/../.." ABSOLUTE)
  file(GLOB_RECURSE of_addon CONFIGURE_DEPENDS RELATIVE "${root}" "${folder}/engine/*.h")
  file(GLOB rows CONFIGURE_DEPENDS RELATIVE "${root}" "${folder}/*.def")
  normscope_install_headers("${root}" ${of_addon} ${rows})
endforeach()
install(DIRECTORY "${PROJECT_BINARY_DIR}/generated/chosen" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/normscope" ${component}
  REGEX "/(oracle|op_cases)\\.def$" EXCLUDE)

set(training_needs "")
foreach(library normscope_sentencepiece normscope_utf8proc normscope_tomlplusplus)
  if(TARGET ${library})
    list(APPEND training_needs ${library})
  endif()
endforeach()
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/normscope-config.cmake.in"
  "${PROJECT_BINARY_DIR}/package/normscope-config.cmake" INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/normscope-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/normscope-config.cmake" "${PROJECT_BINARY_DIR}/package/normscope-config-version.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/NormscopeEngineDependencies.cmake" DESTINATION "${package_dir}" ${component})
if(TARGET normscope_training)
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/NormscopeTrainingDependencies.cmake" DESTINATION "${package_dir}" ${component})
endif()
