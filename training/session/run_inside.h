// `RunInside` is what a run's model does with one text, at the step where it was asked: the measurements of
// inside/inside.h, and the words of its tokens.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "addons/inside/training/inside.h"
#include "training/run/run.h"
#include "training/session/analysis.h"

namespace normscope {

/// The most tokens of a text that is looked at: pictures by token show no more.
inline constexpr size_t kMostInside = 256;

struct RunInside {
  int32_t step = 0;
  std::string text;  ///< as it was asked for; empty: the row that the run is measured on before every step
  bool left_out = false;  ///< whether the losses without each part were asked for
  bool whole = true;      ///< nothing that was asked for is still being measured
  Inside found;
  std::optional<int32_t> spectra_of;   ///< the layer whose next update was taken apart; 0: outside the layers
  std::vector<MatrixSpectra> spectra;  ///< of its matrices
  std::map<int32_t, std::string> words;  ///< of every token of the text and of every guess
};

/// Makes it part by part (inside.h), so that what is quick is shown first and a newer look can come before
/// what takes long. It changes no bit of the run, which has to stay as it is meanwhile.
class InsideLook {
 public:
  /// The constructor throws Error for a text that the run's data cannot spell, of fewer than two tokens or too many, and
  /// for a model that is no decoder or encoder that writes symbols. `then` is the run where it is nobody else's.
  InsideLook(Run& run, std::unique_ptr<Run> then, const std::string& text, bool left_out,
             std::optional<int32_t> spectra_of = {});
  bool next();  ///< measures one part; false where there is none left
  size_t done() const { return work_->done() + size_t{found_.spectra_of.has_value()}; }
  size_t parts() const { return work_->parts() + size_t{spectra_of_.has_value()}; }
  std::pair<int32_t, int32_t> progress() const {
    return {static_cast<int32_t>(done()), static_cast<int32_t>(parts())};
  }
  /// Holds after parts that complete something: the look itself, the lenses, the spectra, all.
  bool worth_showing() const;
  /// Says whether what is still to be measured can be: the run has not moved on.
  bool holds() const { return found_.step == run_->steps_done(); }
  std::shared_ptr<const RunInside> found() const;

 private:
  std::unique_ptr<Run> then_;
  Run* run_;
  std::optional<int32_t> spectra_of_;
  std::optional<InsideWork> work_;
  RunInside found_;
};

}  // namespace normscope
