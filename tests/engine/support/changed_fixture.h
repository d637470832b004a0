// A fixture with some of its numbers changed, which the verification has to notice.
#pragma once

#include <unistd.h>

#include <algorithm>

#include "engine/cpu/backend_cpu.h"
#include "engine/io/safetensors.h"
#include "engine/support/helpers.h"
#include "verify/verify.h"

namespace normscope::test {

/// A fixture in memory, to be changed and written elsewhere.
struct Copy {
  explicit Copy(const std::string& path) {
    const SafetensorsFile file = SafetensorsFile::load(path);
    metadata = file.metadata();
    for (const std::string& tensor : file.names()) {
      shapes[tensor] = file.shape(tensor);
      if (file.type(tensor) == TensorType::F64)
        reals[tensor] = file.doubles(tensor);
      else
        integers[tensor] = file.int32s(tensor);
    }
  }
  std::string write() const {
    SafetensorsWriter writer;
    for (const auto& [key, value] : metadata) writer.set_metadata(key, value);
    for (const auto& [name, values] : reals)
      writer.add(name, shapes.at(name), std::span<const double>(values));
    for (const auto& [name, values] : integers)
      writer.add(name, shapes.at(name), std::span<const int32_t>(values));
    // Several test processes share the folder.
    const std::string path = "changed-" + std::to_string(getpid()) + ".safetensors";
    writer.write(path);
    return path;
  }
  std::map<std::string, std::string> metadata;
  std::map<std::string, TensorShape> shapes;
  std::map<std::string, std::vector<double>> reals;
  std::map<std::string, std::vector<int32_t>> integers;
};

inline VerifyReport verify_changed(const std::string& path, const std::function<void(Copy&)>& change) {
  Copy copy(path);
  change(copy);
  const auto backend = make_cpu_backend(1);
  const struct Remove {
    std::string path;
    ~Remove() { std::remove(path.c_str()); }
  } file{copy.write()};
  return verify_fixture(file.path, *backend);
}

inline bool misses(const VerifyReport& report, const std::string& what) {
  for (const VerifyCheck& c : report.checks)
    if (c.what == what) return !c.passed();
  return false;
}

inline std::string error_of_changed(const std::string& path, const std::function<void(Copy&)>& change) {
  return test::error_of([&] { verify_changed(path, change); }, "");
}

}  // namespace normscope::test
