# finish.cmake is read by cpack between installing into its folder and packing that. It adds licences, and what Debian's
# packages or a folder that is moved about need besides what is installed. platforms/packages/wheel.py reads it for licences alone.
file(READ "${CPACK_NORMSCOPE_SOURCE_DIR}/LICENSE" ours)

# licence_of(VARIABLE DEBIAN_PACKAGE): finds the file with the package's terms; empty where there is none.
function(licence_of variable package)
  set(file "${CPACK_NORMSCOPE_SYSROOT}/usr/share/doc/${package}/copyright")
  if(NOT EXISTS "${file}")
    set(file "/usr/share/doc/${package}/copyright")
  endif()
  if(NOT EXISTS "${file}")
    message(WARNING "normscope: no ${file}, so the package says nothing of the terms of ${package}")
    set(file "")
  endif()
  set(${variable} "${file}" PARENT_SCOPE)
endfunction()

# These packages of others are compiled in, as headers or sources: into the program, and into the engine's library.
set(in_normscope libcli11-dev nlohmann-json3-dev libstb-dev imgui)
set(in_libnormscope-dev nlohmann-json3-dev)
set(in_normscope-cuda "")

# copy_licences(FOLDER PACKAGE...): puts the terms of each package into the folder.
function(copy_licences folder)
  set(packages ${ARGN})
  list(FIND packages imgui imgui)
  list(REMOVE_ITEM packages imgui)
  foreach(package IN LISTS packages)
    licence_of(file "${package}")
    if(file)
      configure_file("${file}" "${folder}/${package}.txt" COPYONLY)
    endif()
  endforeach()
  if(imgui GREATER -1 AND EXISTS "${CPACK_NORMSCOPE_IMGUI_LICENSE}")
    configure_file("${CPACK_NORMSCOPE_IMGUI_LICENSE}" "${folder}/dear-imgui.txt" COPYONLY)
  endif()
endfunction()

# gzip_file(FILE): leaves out name and time, so that the same files make the same package.
function(gzip_file file)
  execute_process(COMMAND gzip -9nf "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# finish_debian adds copyright file, changelog and compressed manual page.
function(finish_debian root package)
  set(doc "${root}/usr/share/doc/${package}")
  file(REMOVE_RECURSE "${root}/usr/share/doc")
  string(REGEX REPLACE "\n\n" "\n.\n" text "${ours}")
  string(REGEX REPLACE "\n([^\n])" "\n \\1" text "${text}")
  file(WRITE "${doc}/copyright"
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: normscope\n\n"
    "Files: *\nCopyright: 2026 normscope contributors\nLicense: Expat\n"
    "Comment: what is compiled in and comes from others is under licenses/ here.\n\nLicense: Expat\n ${text}")
  copy_licences("${doc}/licenses" ${in_${package}})
  configure_file("${CPACK_NORMSCOPE_BINARY_DIR}/package/changelog" "${doc}/changelog.Debian" COPYONLY)
  gzip_file("${doc}/changelog.Debian")
  if(EXISTS "${root}/usr/share/man/man1/normscope.1")
    gzip_file("${root}/usr/share/man/man1/normscope.1")
  endif()
endfunction()

# linked_in_sysroot(VARIABLE PROGRAM SYSTEM) does what linked_libraries does, for a program of another processor: CMake
# would look for its libraries among those of this machine.
function(linked_in_sysroot variable program system)
  set(found "")
  set(queue "${program}")
  while(queue)
    list(POP_FRONT queue file)
    execute_process(COMMAND objdump -p "${file}" OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "NEEDED +[^\n]+" needed "${text}")
    foreach(name IN LISTS needed)
      string(REGEX REPLACE "NEEDED +" "" name "${name}")
      if(name MATCHES "^ld-linux" OR name MATCHES "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so" OR name MATCHES "${system}")
        continue()
      endif()
      file(GLOB library "${CPACK_NORMSCOPE_SYSROOT}/usr/lib/*-linux-gnu/${name}" "${CPACK_NORMSCOPE_SYSROOT}/lib/*-linux-gnu/${name}")
      if(NOT library)
        message(FATAL_ERROR "normscope: not found, and so not among what comes along: ${name}")
      endif()
      list(GET library 0 library)
      list(FIND found "${library}" known)
      if(known EQUAL -1)
        list(APPEND found "${library}")
        list(APPEND queue "${library}")
      endif()
    endforeach()
  endwhile()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# linked_libraries(VARIABLE PROGRAM SYSTEM): finds what the program is linked with, but for the C and C++ library and
# what matches SYSTEM.
function(linked_libraries variable program system)
  if(CPACK_NORMSCOPE_SYSROOT)
    linked_in_sysroot(libraries "${program}" "${system}")
    set(${variable} "${libraries}" PARENT_SCOPE)
    return()
  endif()
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "${program}" RESOLVED_DEPENDENCIES_VAR libraries
    UNRESOLVED_DEPENDENCIES_VAR missing
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so" "${system}")
  if(missing)
    message(FATAL_ERROR "normscope: not found, and so not among what comes along: ${missing}")
  endif()
  set(${variable} "${libraries}" PARENT_SCOPE)
endfunction()

# owners(VARIABLE FILE...): finds the Debian packages that files belong to.
function(owners variable)
  set(packages "")
  foreach(file IN LISTS ARGN)
    get_filename_component(file "${file}" REALPATH)
    set(database "")
    string(FIND "${file}" "${CPACK_NORMSCOPE_SYSROOT}/" of_sysroot)
    if(CPACK_NORMSCOPE_SYSROOT AND of_sysroot EQUAL 0)
      set(database "--admindir=${CPACK_NORMSCOPE_SYSROOT}/var/lib/dpkg")
    endif()
    execute_process(COMMAND dpkg-query ${database} -S "${file}" OUTPUT_VARIABLE owner ERROR_QUIET)
    if(owner MATCHES "^([a-z0-9.+-]+)[:]")
      list(APPEND packages "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES packages)
  set(${variable} "${packages}" PARENT_SCOPE)
endfunction()

# finish_folder puts the libraries that the program is linked with beside it in lib/, found by $ORIGIN. It leaves out
# the system's own (C and C++ library, OpenGL, X11): another system's graphics drivers need those of that system.
function(finish_folder root)
  linked_libraries(libraries "${root}/bin/normscope" "^lib(GL|EGL|OpenGL|GLX|GLdispatch|X|xcb)")
  foreach(library IN LISTS libraries)
    get_filename_component(name "${library}" NAME)
    get_filename_component(file "${library}" REALPATH)
    configure_file("${file}" "${root}/lib/${name}" COPYONLY)
    execute_process(COMMAND patchelf --set-rpath "\$ORIGIN" "${root}/lib/${name}" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  execute_process(COMMAND patchelf --set-rpath "\$ORIGIN/../lib" "${root}/bin/normscope" COMMAND_ERROR_IS_FATAL ANY)
  owners(packages ${libraries})
  copy_licences("${root}/share/doc/normscope/licenses" ${in_normscope} ${packages})
endfunction()

# finish_wheel collects the terms of what comes along in a wheel, libraries of X11 and fonts among it.
function(finish_wheel root)
  linked_libraries(libraries "${CPACK_NORMSCOPE_BINARY_DIR}/normscope" "^libGL")
  owners(packages ${libraries} ${CPACK_NORMSCOPE_FONTS})
  copy_licences("${root}" ${in_normscope} ${packages})
endfunction()

if(CPACK_GENERATOR STREQUAL "DEB")
  foreach(package IN LISTS CPACK_COMPONENTS_ALL)
    finish_debian("${CPACK_TEMPORARY_DIRECTORY}/${package}" "${package}")
  endforeach()
elseif(CPACK_GENERATOR STREQUAL "WHEEL")
  finish_wheel("${CPACK_TEMPORARY_DIRECTORY}")
else()
  finish_folder("${CPACK_TEMPORARY_DIRECTORY}")
endif()
