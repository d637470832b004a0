# A toolchain file: Debian's g++ for AArch64, the libraries of the sysroot that scripts/arm64_sysroot.sh makes, and
# qemu-user, which runs what was built here: tests, and the program where it prints its manual page to be installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
get_filename_component(NORMSCOPE_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../../build/arm64-sysroot" ABSOLUTE)
set(CMAKE_SYSROOT "${NORMSCOPE_SYSROOT}")
set(CMAKE_CXX_FLAGS_INIT "-fmacro-prefix-map=${NORMSCOPE_SYSROOT}=")  # assertions of its headers hold their names
set(NORMSCOPE_DEBIAN_ARCHITECTURE arm64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L "${NORMSCOPE_SYSROOT}")

# Programs are this machine's; what is compiled and linked with is found in the sysroot alone.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(what LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${what} ONLY)
endforeach()
