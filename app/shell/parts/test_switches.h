// The test switches are set by tests and pictures, so that a frame can be read and compared.
#pragma once

namespace normscope {

struct TestSwitches {
  bool record_text = false;  // keep what is written on screen
  bool clock = true;         // false: figures that depend on the machine's speed print as a dash
};

}  // namespace normscope
