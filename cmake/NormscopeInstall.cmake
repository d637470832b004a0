# cmake --install: the program, the CUDA backend where it was built, lessons, claims, and what the program prints of itself:
# completion for three shells and the manual page. Fonts are those of the system.
include(GNUInstallDirs)

install(TARGETS normscope RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET normscope_cuda)
  install(TARGETS normscope_cuda LIBRARY DESTINATION "${CMAKE_INSTALL_BINDIR}")  # opened at run time, beside the program
endif()
install(DIRECTORY "${CMAKE_SOURCE_DIR}/lessons/" DESTINATION "${CMAKE_INSTALL_DATADIR}/normscope/lessons")
install(DIRECTORY "${CMAKE_SOURCE_DIR}/claims/" DESTINATION "${CMAKE_INSTALL_DATADIR}/normscope/claims")
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# normscope_printed(DESTINATION FILE ARGUMENT...): a file with what the program prints.
function(normscope_printed destination file)
  set(made "${CMAKE_BINARY_DIR}/install/${file}")
  string(REPLACE ";" "\" \"" arguments "${ARGN}")
  install(CODE "file(MAKE_DIRECTORY \"${CMAKE_BINARY_DIR}/install\")
    execute_process(COMMAND \"$<TARGET_FILE:normscope>\" \"${arguments}\" OUTPUT_FILE \"${made}\" RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR \"normscope ${ARGN}: \${result}\")
    endif()")
  install(FILES "${made}" DESTINATION "${destination}")
endfunction()

normscope_printed("${CMAKE_INSTALL_DATADIR}/bash-completion/completions" normscope completion bash)
normscope_printed("${CMAKE_INSTALL_DATADIR}/zsh/site-functions" _normscope completion zsh)
normscope_printed("${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" normscope.fish completion fish)
normscope_printed("${CMAKE_INSTALL_MANDIR}/man1" normscope.1 man)
