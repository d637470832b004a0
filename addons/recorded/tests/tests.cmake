# The Python package's launcher is tested on scripts in the program's place.
if(TARGET normscope AND NOT NORMSCOPE_BESIDE)
  set(python "${CMAKE_CURRENT_LIST_DIR}/../python")
  add_test(NAME python.program COMMAND python3 -m unittest test_program WORKING_DIRECTORY "${python}/tests")
  set_tests_properties(python.program PROPERTIES LABELS package TIMEOUT 300
    ENVIRONMENT "PYTHONPATH=${python};PYTHONDONTWRITEBYTECODE=1")
endif()
