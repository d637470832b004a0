# The installed program is tested: what a desktop reads of it agrees with what it says itself, and everything that
# belongs to it is found where it is.
# cmake -DBUILD=build tree -DWORK=folder -DSOURCE=sources [-DADDONS="names of those built"] -P installed.cmake
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE "${WORK}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first" --component normscope
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${WORK}/first" "${WORK}/moved")  # it runs wherever the whole folder is
set(root "${WORK}/moved")

function(expect what found expected)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${what}: expected '${expected}', found '${found}'")
  endif()
endfunction()
# only(VARIABLE FILE REGEX): returns what the group matches in the one line of the file that matches.
function(only variable file regex)
  file(STRINGS "${file}" lines REGEX "${regex}")
  list(LENGTH lines count)
  expect("lines of ${file} like ${regex}" "${count}" 1)
  string(REGEX REPLACE ".*${regex}.*" "\\1" found "${lines}")
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()
# printed(VARIABLE ARGUMENT...): returns what the program prints. It runs without the user's own placements, whose names
# it would complete too.
function(printed variable)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "XDG_CONFIG_HOME=${WORK}/none" "${root}/bin/normscope" ${ARGN}
    OUTPUT_VARIABLE out COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${out}" PARENT_SCOPE)
endfunction()

# The program has to start where there is no OpenGL, to train.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "${root}/bin/normscope" RESOLVED_DEPENDENCIES_VAR found
  UNRESOLVED_DEPENDENCIES_VAR missing)
list(FILTER found INCLUDE REGEX "/lib(Open|E|X)?GL")
expect("libraries of OpenGL that the program is linked with" "${found}" "")

printed(version --version)
string(REGEX REPLACE "^normscope ([^\n]*)\n.*" "\\1" version "${version}")

# The menu entry has to start the program, and to have its icon in every size and its description.
set(desktop "${root}/share/applications/normscope.desktop")
only(name "${desktop}" "^Name=(.*)")
only(exec "${desktop}" "^Exec=([^ ]*)")
only(icon "${desktop}" "^Icon=(.*)")
expect("Name of the menu entry" "${name}" normscope)
if(NOT EXISTS "${root}/bin/${exec}")
  message(FATAL_ERROR "Exec of the menu entry is ${exec}: no such program")
endif()
foreach(size 16 24 32 48 64 128 256 512)
  file(READ "${root}/share/icons/hicolor/${size}x${size}/apps/${icon}.png" head OFFSET 12 LIMIT 12 HEX)
  math(EXPR hex "${size}" OUTPUT_FORMAT HEXADECIMAL)
  string(REGEX REPLACE "^0x" "00000000" hex "${hex}")
  string(REGEX REPLACE "^.*(........)$" "\\1" hex "${hex}")
  expect("icon of ${size} px" "${head}" "49484452${hex}${hex}")  # IHDR, width, height
endforeach()
if(NOT EXISTS "${root}/share/icons/hicolor/scalable/apps/${icon}.svg")
  message(FATAL_ERROR "no drawing of the icon ${icon}")
endif()

set(about "${root}/share/metainfo/org.normscope.normscope.metainfo.xml")
only(described "${about}" "<release version=\"([^\"]*)\"")
only(name "${about}" "<name>(.*)</name>")
only(entry "${about}" "<launchable type=\"desktop-id\">(.*)</launchable>")
only(binary "${about}" "<binary>(.*)</binary>")
only(summary "${about}" "<summary>(.*)</summary>")
only(comment "${desktop}" "^Comment=(.*)")
expect("version in the description" "${described}" "${version}")
expect("name in the description" "${name}" normscope)
expect("menu entry in the description" "${entry}" normscope.desktop)
expect("program in the description" "${binary}" "${exec}")
expect("summary and comment" "${summary}" "${comment}")

# What the program prints of itself has to be there.
set(file_bash bash-completion/completions/normscope)
set(file_man man/man1/normscope.1)
foreach(shell bash man)
  set(words completion ${shell})
  if(shell STREQUAL "man")
    set(words man)
  endif()
  printed(text ${words})
  file(READ "${root}/share/${file_${shell}}" file)
  expect("share/${file_${shell}}" "${file}" "${text}")
endforeach()

# Lessons are here, and what the add-ons ship, and nothing else.
set(shipped lessons)
separate_arguments(ADDONS)
foreach(addon IN LISTS ADDONS)
  if(EXISTS "${SOURCE}/addons/${addon}/ships")
    file(STRINGS "${SOURCE}/addons/${addon}/ships" folders)
    list(TRANSFORM folders PREPEND "addons/${addon}/")
    list(APPEND shipped ${folders})
  endif()
endforeach()
set(names "")
foreach(folder IN LISTS shipped)
  get_filename_component(name "${folder}" NAME)
  list(APPEND names "${name}")
  file(GLOB_RECURSE here RELATIVE "${root}/share/normscope/${name}" "${root}/share/normscope/${name}/*")
  file(GLOB_RECURSE there RELATIVE "${SOURCE}/${folder}" "${SOURCE}/${folder}/*")
  if(there STREQUAL "")
    message(FATAL_ERROR "${folder} is to be shipped: expected files there")
  endif()
  expect("files of ${folder}" "${here}" "${there}")
endforeach()
file(GLOB here RELATIVE "${root}/share/normscope" "${root}/share/normscope/*")
list(SORT names)
expect("folders of share/normscope" "${here}" "${names}")
# The lessons that are read are its own, and not those of the sources: one that is missing here is not listed.
file(GLOB lesson LIST_DIRECTORIES true "${root}/share/normscope/lessons/*-warm-up")
printed(before lesson list)
file(REMOVE_RECURSE "${lesson}")
printed(after lesson list)
if(before STREQUAL after)
  message(FATAL_ERROR "the installed program lists lessons that lie elsewhere")
endif()
