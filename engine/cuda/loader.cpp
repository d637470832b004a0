// Opens the shared object normscope_cuda for the first CUDA backend: the file of NORMSCOPE_CUDA_LIBRARY, or the first
// one next to the program, in ../lib/normscope, in the Python package normscope_cuda next to the program's package, or
// in the system's library folders. The program itself links no CUDA library, so it starts anywhere.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "engine/cuda/backend_cuda.h"
#include "engine/cuda/loader.h"

namespace normscope {
namespace cuda {
namespace {

#ifdef NORMSCOPE_WITH_CUDA
constexpr bool kBuilt = true;
#else
constexpr bool kBuilt = false;
#endif

#ifdef __EMSCRIPTEN__
constexpr const char* kWithout = "the program in a browser has no CUDA";
#else
constexpr const char* kWithout =
    "this program was built without CUDA (docs/cuda.md says how to build it with CUDA)";
#endif

constexpr const char* kLibrary = "libnormscope_cuda.so";
constexpr const char* kLibraryVariable = "NORMSCOPE_CUDA_LIBRARY";

std::string program_directory() {
  const std::string file = program_path();
  return file.substr(0, file.find_last_of('/') + 1);
}

std::vector<std::string> library_paths() {
  if (const char* given = std::getenv(kLibraryVariable); given && *given) return {given};
  const std::string directory = program_directory();
  return {directory + kLibrary, directory + "../lib/normscope/" + kLibrary,
          directory + "../../../normscope_cuda/" + kLibrary, kLibrary};
}

/// Without a driver our library stays closed, as cuBLAS, which comes with it, takes 60 MB.
bool has_driver() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver) dlclose(driver);
  return driver != nullptr;
}

struct Library {
  DriverEntry entry = nullptr;
  std::string reason;
};

Library open_library() {
  Library library;
  const char* variable = std::getenv(kLibraryVariable);
  const bool given = variable && *variable;
  for (const std::string& path : library_paths()) {
    const bool named = path.find('/') == std::string::npos;  // then the system searches its library folders
    const bool exists = named || access(path.c_str(), R_OK) == 0;
    if (!exists && given) library.reason = path + " is not there";
    if (!exists) continue;
    struct stat status {};
    if (!named && (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))) {
      library.reason = path + " is not a regular file";  // opening a pipe would wait for ever
      return library;
    }
    if (!given && !has_driver()) {
      library.reason = "no NVIDIA driver";
      return library;
    }
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      library.entry = reinterpret_cast<DriverEntry>(dlsym(handle, kDriverEntry));
      library.reason = library.entry ? "" : path + " is not the CUDA backend";
      return library;
    }
    if (path != kLibrary) {  // it is there and does not load: say why
      const char* why = dlerror();
      library.reason = why ? why : path + " cannot be loaded";
      return library;
    }
  }
  if (given) return library;
  library.reason = kBuilt ? std::string(kLibrary) + " is not beside the program" : kWithout;
  return library;
}

/// Stays open for the life of the program.
const Library& library() {
  static const Library opened = open_library();
  return opened;
}

bool is_set(const char* variable, const char* value) {
  const char* given = std::getenv(variable);
  return given && std::string(given) == value;
}

}  // namespace

std::shared_ptr<Driver> open_driver(const DriverOptions& options, std::string& reason) {
  const Library& opened = library();
  reason = opened.reason;
  if (opened.entry == nullptr) return nullptr;
  return std::shared_ptr<Driver>(opened.entry(kDriverAbi, options, reason));
}

}  // namespace cuda

std::string cuda_unavailable() {
  static std::once_flag once;
  static std::string reason;
  std::call_once(once, [] { cuda::open_driver({}, reason); });
  return reason;
}

std::unique_ptr<Backend> make_cuda_backend(CudaOptions options) {
  if (cuda::is_set("NORMSCOPE_TF32", "1")) options.tf32 = true;
  if (cuda::is_set("NORMSCOPE_CUDA_GRAPH", "0")) options.graph = false;
  std::string reason;
  std::shared_ptr<cuda::Driver> driver = cuda::open_driver({.tf32 = options.tf32}, reason);
  if (!driver) fail("cuda", "{}", reason);
  return cuda::make_backend(std::move(driver), options);
}

}  // namespace normscope
