# Add-ons are folders of addons/ that the engine, the training and the app do not know: delete one, and everything still
# builds and passes. NORMSCOPE_ADDONS chooses which are built: "all", a list of names, or none.
#
# An add-on's sources stand in engine/, training/ and app/ of its folder and are compiled into the library of that floor,
# its tests in tests/{engine,training,app} into the floor's tests, its texts in words/ and words/de. What it adds to a
# list of the core it writes as rows of NAME.def in its folder, and the core's list ends with #include "chosen/NAME.def":
# no static initialiser registers anything, so the linker names what is missing.
include_guard()

set(NORMSCOPE_ADDONS all CACHE STRING "Add-ons to build: all, names of folders under addons/, or nothing")
file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE "${PROJECT_SOURCE_DIR}/addons" "${PROJECT_SOURCE_DIR}/addons/*")
set(present "")
foreach(folder IN LISTS folders)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/addons/${folder}")
    list(APPEND present "${folder}")
  endif()
endforeach()
set(NORMSCOPE_CHOSEN_ADDONS ${NORMSCOPE_ADDONS})
if(NORMSCOPE_ADDONS STREQUAL "all")
  set(NORMSCOPE_CHOSEN_ADDONS ${present})
endif()
foreach(addon IN LISTS NORMSCOPE_CHOSEN_ADDONS)
  if(NOT addon IN_LIST present)
    message(FATAL_ERROR "normscope: NORMSCOPE_ADDONS names '${addon}', but there is no folder addons/${addon}")
  endif()
endforeach()
# An add-on that builds on others names them in its file `needs`, a name a line. Without one of them it is left out.
foreach(round IN LISTS present)  # what is left out may itself be needed
  foreach(addon IN LISTS NORMSCOPE_CHOSEN_ADDONS)
    if(EXISTS "${PROJECT_SOURCE_DIR}/addons/${addon}/needs")
      file(STRINGS "${PROJECT_SOURCE_DIR}/addons/${addon}/needs" needs)
      foreach(need IN LISTS needs)
        if(NOT need IN_LIST NORMSCOPE_CHOSEN_ADDONS)
          message(STATUS "normscope: addons/${addon} is left out, as it needs addons/${need}")
          list(REMOVE_ITEM NORMSCOPE_CHOSEN_ADDONS "${addon}")
        endif()
      endforeach()
    endif()
  endforeach()
endforeach()

# Whether all add-ons are built that addons/README.md names: tests then hold lists and pages to be whole.
set(NORMSCOPE_EVERY_ADDON true)
file(READ "${PROJECT_SOURCE_DIR}/addons/README.md" page)
string(REGEX MATCHALL "[a-z-]+/README" named "${page}")
foreach(addon IN LISTS named present)
  string(REPLACE "/README" "" addon "${addon}")
  if(NOT addon IN_LIST NORMSCOPE_CHOSEN_ADDONS AND NOT addon MATCHES "^(words|docs|NAME)$")
    set(NORMSCOPE_EVERY_ADDON false)
  endif()
endforeach()

# The lists of the core that add-ons can make longer. Each is a file of rows, empty where no chosen add-on has any. Rows of
# a list that the core does not read would go unnoticed, so they are refused.
set(NORMSCOPE_SEAMS ops formulas op_cases oracle parts positions placements residuals optimizers settings presets tasks architectures numbers measurements commands
  lesson_commands headless screens stages window_parts shortcuts model_formats file_looks folder_looks log_forms small_verdicts)
foreach(addon IN LISTS NORMSCOPE_CHOSEN_ADDONS)
  file(GLOB lists CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/addons/${addon}/*.def")
  foreach(list IN LISTS lists)
    get_filename_component(seam "${list}" NAME_WE)
    if(NOT seam IN_LIST NORMSCOPE_SEAMS)
      message(FATAL_ERROR "normscope: addons/${addon} has rows of '${seam}', a list that the core does not read")
    endif()
  endforeach()
endforeach()
foreach(seam IN LISTS NORMSCOPE_SEAMS)
  set(rows "// Written by cmake/NormscopeAddons.cmake.\n")
  foreach(addon IN LISTS NORMSCOPE_CHOSEN_ADDONS)
    set(file "addons/${addon}/${seam}.def")
    if(EXISTS "${PROJECT_SOURCE_DIR}/${file}")
      string(APPEND rows "#include \"${file}\"\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/chosen/${seam}.def" CONTENT "${rows}" @ONLY)
endforeach()

# normscope_addon_folders(VARIABLE PART): the folder PART of every chosen add-on that has one, such as "training".
function(normscope_addon_folders variable part)
  set(result "")
  foreach(addon IN LISTS NORMSCOPE_CHOSEN_ADDONS)
    if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/addons/${addon}/${part}")
      list(APPEND result "${PROJECT_SOURCE_DIR}/addons/${addon}/${part}")
    endif()
  endforeach()
  set(${variable} "${result}" PARENT_SCOPE)
endfunction()

# normscope_floor_sources(VARIABLE FLOOR [EXCLUDE PATTERN...]): the sources of a floor, with what the chosen add-ons add to it.
function(normscope_floor_sources variable floor)
  cmake_parse_arguments(ARG "" "" "EXCLUDE" ${ARGN})
  normscope_sources(sources "${PROJECT_SOURCE_DIR}/${floor}" EXCLUDE ${ARG_EXCLUDE})
  normscope_addon_folders(folders ${floor})
  foreach(folder IN LISTS folders)
    normscope_sources(more "${folder}")
    list(APPEND sources ${more})
  endforeach()
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()
