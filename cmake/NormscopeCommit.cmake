# `commit` is the first twelve digits of the commit of the sources, with a + where they were changed since. It is empty
# without git or without a repository of this project. CMake configures again after every commit, because git's log of
# HEAD changes. Changes without a commit are seen when CMake runs; platforms/packages/package.sh runs it before every package.
find_program(NORMSCOPE_GIT git)
mark_as_advanced(NORMSCOPE_GIT)
set(commit "")
if(NORMSCOPE_GIT AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
  execute_process(COMMAND "${NORMSCOPE_GIT}" describe --always --abbrev=12 --dirty=+ --exclude=*
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND "${NORMSCOPE_GIT}" rev-parse --git-path logs/HEAD
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  get_filename_component(log "${log}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
  if(EXISTS "${log}" AND NOT IS_DIRECTORY "${log}")
    set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
  endif()
endif()
