// `RunInside` is what a run's model does with one text, at the step where it was asked: the measurements of
// inside/inside.h, and the words of its tokens.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/inside/inside.h"
#include "training/run/run.h"
#include "training/session/analysis.h"

namespace normscope {

/// `kMostInside` is the most tokens of a text that is looked at: pictures by token show no more.
inline constexpr size_t kMostInside = 256;

struct RunInside {
  int32_t step = 0;
  std::string text;  ///< as it was asked for; empty: the row that the run is measured on before every step
  bool left_out = false;  ///< whether the losses without each part are there
  Inside found;
  std::optional<int32_t> spectra_of;   ///< the layer whose next update was taken apart; 0: outside the layers
  std::vector<MatrixSpectra> spectra;  ///< of its matrices
  std::map<int32_t, std::string> words;  ///< of every token of the text and of every guess
};

/// `look_inside` changes no bit of the run. Throws Error for a text that the run's data cannot spell, of fewer than two
/// tokens or too many, and for a model that is no decoder or encoder that writes symbols.
std::shared_ptr<const RunInside> look_inside(Run& run, const std::string& text, bool left_out,
                                             std::optional<int32_t> spectra_of = {});

}  // namespace normscope
