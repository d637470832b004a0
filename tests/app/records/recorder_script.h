// The recorder script runs a recorder that `normscope record` prints, where Python has what it needs.
// test_recorder_torch.cpp, test_recorder_jax.cpp and test_debian_pairs.cpp use it. NORMSCOPE_PYTHON names a Python to
// use before all others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "app/support/program.h"
#include "catch.hpp"
#include "skip.h"
#include "test_paths.h"
#include "training/records/recorded_run.h"

namespace normscope::test {

/// `python_with` finds a Python that has a module; empty where there is none. The system's own is tried last, because
/// another may precede it on the path while PyTorch is installed as the system's package.
inline std::string python_with(const std::string& module) {
  const char* named = std::getenv("NORMSCOPE_PYTHON");
  for (const std::string& python :
       {std::string(named ? named : ""), std::string(NORMSCOPE_SOURCE_DIR "/build/peers/bin/python"),
        std::string("python3"), std::string("/usr/bin/python3")}) {
    if (python.empty()) continue;
    const std::string look = "'" + python +
                             "' -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec(\"" +
                             module + "\") is None)' >/dev/null 2>&1";
    if (std::system(look.c_str()) == 0) return python;
  }
  return "";
}

#define NEEDS_PYTHON(python, module, what)                         \
  const std::string python = normscope::test::python_with(module); \
  if (python.empty()) SKIP_CASE(std::string("there is no ") + (what))

/// `kStandIns` is the folder of stand-ins for PyTorch and JAX.
inline constexpr const char* kStandIns = NORMSCOPE_FIXTURES "/recorder/stand_in";

/// `run_python` runs a script beside recorder.py in a folder, and returns what it printed if it failed, else nothing.
/// `modules` is a folder whose modules precede the installed ones.
inline std::string run_python(const std::string& python, const Folder& folder, const char* recorder,
                              const std::string& script, const std::string& modules = "") {
  folder.write("recorder.py", recorder);
  folder.write("script.py", script);
  const std::string line =
      "cd '" + folder.file("") + "' && PYTHONPATH='" + modules +
      "'${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 CUDA_VISIBLE_DEVICES= "
      "JAX_PLATFORMS=cpu '" +
      python + "' script.py >out 2>&1";
  return std::system(line.c_str()) == 0 ? "" : read_all(folder.file("out"));
}

/// `first_of` is the first number of a measurement.
inline float first_of(const records::RecordedRun& run, const char* stat) {
  const Series series = run.history->series(run.history->find(stat));
  return series.values.empty() ? NAN : series.values.front();
}

/// `line_breaks_in` counts the lines of a text that ends with a line break.
inline long line_breaks_in(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace normscope::test
