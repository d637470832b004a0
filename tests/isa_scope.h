// IsaScope lets every CPU backend that is made while it lives use one instruction set, as NORMSCOPE_ISA would.
#pragma once

#include <optional>
#include <string>

#include "engine/cpu/isa.h"
#include "folder.h"

namespace normscope::test {

class IsaScope {
 public:
  explicit IsaScope(const std::string& name) { variable_.emplace("NORMSCOPE_ISA", name); }
  ~IsaScope() {
    variable_.reset();
    cpu::choose_isa();
  }
  IsaScope(const IsaScope&) = delete;
  IsaScope& operator=(const IsaScope&) = delete;

 private:
  std::optional<Variable> variable_;
};

}  // namespace normscope::test
