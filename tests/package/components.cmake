# The components of the installed package: what is found and what is refused, and a program linked with the engine alone.
# cmake -DBUILD=build tree -DWORK=folder -DTRAINING_NEEDS="libraries that training was built with" ... -P components.cmake:
# see run.cmake
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
file(REMOVE_RECURSE "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix" --component libnormscope-dev)

file(GLOB_RECURSE config "${WORK}/prefix/*/normscope-config.cmake")
get_filename_component(folder "${config}" DIRECTORY)
file(COPY "${folder}" DESTINATION "${WORK}/alone")
file(GLOB_RECURSE of_training "${WORK}/alone/*training*" "${WORK}/alone/*Training*")
file(REMOVE ${of_training})

list(PREPEND DEPS "${WORK}/prefix")
configure("${CMAKE_CURRENT_LIST_DIR}/components" "${WORK}/build" -DCMAKE_BUILD_TYPE=Release
  "-DENGINE_ALONE=${WORK}/alone/normscope" "-DTRAINING_NEEDS=${TRAINING_NEEDS}")
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/user")
