// What a run's model does with one text, at the step where it was asked: the measurements of
// inside/inside.h, and the words of its tokens.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addons/inside/training/inside.h"
#include "training/run/run.h"
#include "training/session/analysis.h"
#include "training/session/command.h"
#include "training/session/lab.h"

namespace normscope {

/// The most tokens of a text that is looked at: pictures by token show no more.
inline constexpr size_t kMostInside = 256;

struct RunInside : InquiryResult {
  int32_t step = 0;
  std::string text;  ///< as it was asked for; empty: the row that the run is measured on before every step
  bool left_out = false;  ///< whether the losses without each part were asked for
  bool whole = true;      ///< nothing that was asked for is still being measured
  Inside found;
  std::optional<int32_t> spectra_of;   ///< the layer whose next update was taken apart; 0: outside the layers
  std::vector<MatrixSpectra> spectra;  ///< of its matrices
  std::map<int32_t, std::string> words;  ///< of every token of the text and of every guess
};

class InsideLook : public Inquiry {
 public:
  /// The constructor throws Error for a text that the run's data cannot spell, of fewer than two tokens or too many, and
  /// for a model that is not a decoder or encoder that writes symbols. `then` is the run where it is nobody else's.
  InsideLook(Run& run, std::unique_ptr<Run> then, const std::string& text, bool left_out,
             std::optional<int32_t> spectra_of = {});
  bool next() override;
  size_t done() const override { return work_->done() + size_t{found_.spectra_of.has_value()}; }
  size_t parts() const override { return work_->parts() + size_t{spectra_of_.has_value()}; }
  /// After the look itself, the lenses, the spectra, all.
  bool worth_showing() const override;
  bool holds() const override { return found_.step == run_->steps_done(); }
  std::shared_ptr<const RunInside> found() const;
  std::shared_ptr<const InquiryResult> result() const override { return found(); }

 private:
  std::unique_ptr<Run> then_;
  Run* run_;
  std::optional<int32_t> spectra_of_;
  std::optional<InsideWork> work_;
  RunInside found_;
};

/// What is asked of a run. Without a text it takes the row that the run is measured on. `left_out`: with the loss without
/// each of its parts, a forward pass for each. `spectra_of`: with the singular values of what the next step adds to the
/// matrices of this layer.
struct InsideRequest {
  int32_t run = 0;
  std::string text{};
  bool left_out = false;
  int32_t step = -1;  ///< as the run stood after it; -1: as it stands
  std::optional<int32_t> spectra_of{};
};
session::Inquire look_command(const InsideRequest& asked);
/// What the newest look at a run of the Lab has found; null: nothing yet.
const RunInside* inside_of(const RunView& run);

}  // namespace normscope
