# cmake --install installs the program, the CUDA backend where it was built, lessons, what add-ons ship, what a desktop needs (menu
# entry, icon, description), and what the program prints about itself: completion for three shells and the manual page.
# Fonts are the system's. Components are the packages of NormscopePackage.cmake.
include(GNUInstallDirs)

set(component COMPONENT normscope)
install(TARGETS normscope RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" ${component})
set(shipped "${PROJECT_SOURCE_DIR}/lessons")
foreach(addon IN LISTS NORMSCOPE_CHOSEN_ADDONS)  # the file `ships` of an add-on names its folders that the program reads
  if(EXISTS "${NORMSCOPE_FOLDER_OF_${addon}}/ships")
    file(STRINGS "${NORMSCOPE_FOLDER_OF_${addon}}/ships" folders)
    list(TRANSFORM folders PREPEND "${NORMSCOPE_FOLDER_OF_${addon}}/")
    list(APPEND shipped ${folders})
  endif()
endforeach()
foreach(folder IN LISTS shipped)
  install(DIRECTORY "${folder}" DESTINATION "${CMAKE_INSTALL_DATADIR}/normscope" ${component})
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" ${component})

# normscope_printed(DESTINATION FILE ARGUMENT...): installs a file with what the program prints where nobody has a
# placement or a setting of their own.
function(normscope_printed destination file)
  set(made "${PROJECT_BINARY_DIR}/install/${file}")
  # Built for another processor, the program runs in the emulator that the toolchain file names.
  set(command ${CMAKE_CROSSCOMPILING_EMULATOR} "$<TARGET_FILE:normscope>" ${ARGN})
  list(JOIN command "\" \"" command)
  install(CODE "file(MAKE_DIRECTORY \"${PROJECT_BINARY_DIR}/install\")
    set(ENV{XDG_CONFIG_HOME} \"${PROJECT_BINARY_DIR}/install/none\")
    unset(ENV{NORMSCOPE_PLACEMENTS})
    execute_process(COMMAND \"${command}\" OUTPUT_FILE \"${made}\" RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR \"normscope ${ARGN}: \${result}\")
    endif()" ${component})
  install(FILES "${made}" DESTINATION "${destination}" ${component})
endfunction()

normscope_printed("${CMAKE_INSTALL_DATADIR}/bash-completion/completions" normscope completion bash)
normscope_printed("${CMAKE_INSTALL_MANDIR}/man1" normscope.1 man)

# The desktop's description has the project's version and day.
normscope_release_day(release_day "%Y-%m-%d")
configure_file("${PROJECT_SOURCE_DIR}/platforms/packages/org.normscope.normscope.metainfo.xml.in"
  "${PROJECT_BINARY_DIR}/package/org.normscope.normscope.metainfo.xml" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/org.normscope.normscope.metainfo.xml"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/metainfo" ${component})
install(FILES "${PROJECT_SOURCE_DIR}/platforms/packages/normscope.desktop"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/applications" ${component})
set(icons "${CMAKE_INSTALL_DATADIR}/icons/hicolor")
foreach(size 16 24 32 48 64 128 256 512)
  install(FILES "${PROJECT_SOURCE_DIR}/assets/icon/normscope-${size}.png" RENAME normscope.png
    DESTINATION "${icons}/${size}x${size}/apps" ${component})
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/assets/icon/normscope.svg" DESTINATION "${icons}/scalable/apps" ${component})
