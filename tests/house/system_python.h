// Finds a Python for tests that run a script of scripts/.
#pragma once

#include "app/support/program.h"
#include "skip.h"

namespace normscope::test {

/// Returns a Python that has `module`; empty where there is none. The system's own is tried last: another may precede
/// it on the path, and lack the module.
inline std::string python_with(const std::string& module) {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const std::string look = std::string(python) +
                             " -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec(\"" +
                             module + "\") is None)' >/dev/null 2>&1";
    if (std::system(look.c_str()) == 0) return python;
  }
  return "";
}

#define NEEDS_PYTHON(python, module, what)                         \
  const std::string python = normscope::test::python_with(module); \
  if (python.empty()) SKIP_CASE(std::string("there is no ") + (what))

/// Counts the lines of a text that ends with a line break.
inline long line_breaks_in(const std::string& text) { return std::ranges::count(text, '\n'); }

}  // namespace normscope::test
