// IsaScope lets every CPU backend that is made while it lives use one instruction set, as NORMSCOPE_ISA would.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "engine/cpu/isa.h"

namespace normscope::test {

class IsaScope {
 public:
  explicit IsaScope(const std::string& name) {
    if (const char* named = std::getenv("NORMSCOPE_ISA")) before_ = named;
    setenv("NORMSCOPE_ISA", name.c_str(), 1);
  }
  ~IsaScope() {
    if (before_)
      setenv("NORMSCOPE_ISA", before_->c_str(), 1);
    else
      unsetenv("NORMSCOPE_ISA");
    cpu::choose_isa();
  }
  IsaScope(const IsaScope&) = delete;
  IsaScope& operator=(const IsaScope&) = delete;

 private:
  std::optional<std::string> before_;
};

}  // namespace normscope::test
