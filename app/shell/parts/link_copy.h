// A link copy is a link on its way to the clipboard. Packing four runs of 24 layers takes longer than a frame, so it is
// done on a thread of its own; the app takes the text in the frame in which it arrives.
#pragma once

#include <string>

#include "training/files/background.h"

namespace normscope {

struct PackedLink {
  std::string fragment;  ///< empty: there is none
  std::string words;     ///< what it does not carry, or why there is none
};

struct LinkCopy {
  bool awaited = false;
  Background<PackedLink> packed{};
};

}  // namespace normscope
