// `SavedRun` is the contents of a saved run as one value: the gate that every checkpoint passes before a network is
// built.
//
// Promises: each number is in its range, each list has its length, the specification can be built, and nothing in it
// can send an index out of range or a loop astray. Throws Error that names file, field, value and what was expected.
// Called by Run::load and Run::saved_spec.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "training/io/input_value.h"
#include "training/io/safetensors.h"
#include "training/measure/history.h"
#include "training/measure/plateau.h"
#include "training/run/run.h"
#include "training/run/segment_memory.h"
#include "training/spec/codec.h"
#include "training/spec/kept_spec.h"
#include "training/spec/limits.h"

namespace normscope {

struct SavedRun : RunPast {
  RunSpec spec;  ///< with the edits
  int32_t step = 0;
  std::string data_hash;
  std::vector<int32_t> loss_steps, validation_steps;
  std::vector<float> history_losses, history_rates, validation_losses;
  FrameBlock frames;               ///< empty: the file has none
  std::vector<std::string> stats;  ///< names of a frame's numbers
  std::vector<RunEvent> events;
  Plateau::State plateau;
  MemoryState memory;
  int64_t bytes =
      0;  ///< estimate for the largest network on the way from `origin` to the last scheduled edit
};

/// Reads what the header says: specification, edits, step, data and memory.
/// SafetensorsFile::load_header() is enough for it.
SavedRun read_saved_header(const SafetensorsFile& file);
/// Reads everything but the weights, whose shapes only the network knows.
SavedRun read_saved_run(const SafetensorsFile& file);
/// Fills a history that has no step yet. Of a version that measured less it keeps the frames, in
/// which the other numbers are unknown. It leaves frames out whose numbers are others, or so few that the frames
/// would be larger here than any history.
void restore_history(const SavedRun& saved, History& history);

inline constexpr const char* kSavedRunFormat = "normscope run 1";

// Rules of what a checkpoint has as JSON beside its tensors, see training/spec/codec.h.

inline constexpr codec::Text kStatName{200};
inline constexpr codec::List kStatNames{0, 1'000'000, kStatName};

inline constexpr auto kEvent = codec::row(3, [](auto& io, auto& event) {
  io("step", event.step, codec::Whole{0, kLastEdit});
  io("kind", event.kind, codec::Whole{0, static_cast<int>(RunEvent::Kind::Resumed)});
  io("text", event.text, codec::Text{3 * kLongestText});
});
inline constexpr codec::List kEvents{0, 1'000'000, kEvent};

/// Edits in the order of their steps, which lie between `low` and `high`.
struct EditRows {
  int32_t low = 0, high = kLastEdit;
  static auto edit(int32_t low, int32_t high) {
    return codec::row(3, [=](auto& io, auto& edit) {
      io("step", edit.step, codec::Whole{low, high});
      io("key", edit.key, codec::Text{kLongestText});
      io("value", edit.value, codec::Text{kLongestText});
    });
  }
  codec::Json write(const std::vector<Edit>& edits) const {
    return codec::List{0, kMostEdits, edit(low, high)}.write(edits);
  }
  void read(const InputValue& json, std::vector<Edit>& edits) const {
    edits.clear();
    for (const InputValue& item : json.list(0, kMostEdits))
      edit(edits.empty() ? low : edits.back().step, high).read(item, edits.emplace_back());
  }
};

/// `report_rule` and `plateau_rule` are for a run after `step` steps.
inline auto report_rule(int32_t step = kMostSteps) {
  return codec::Maybe{codec::row(3, [=](auto& io, auto& report) {
    io("layer", report.layer, codec::Whole{0, 1024});
    io("tensor", report.tensor, kStatName);
    io("step", report.step, codec::Whole{0, step});
  })};
}
inline auto plateau_rule(int32_t step = kMostSteps) {
  return codec::Object{[=](auto& io, auto& state) {
    io("count", state.count, codec::Whole{0, step});
    io("stuck", state.stuck);
    io("learning_since", state.learning_since, codec::Whole{0, step});
  }};
}

}  // namespace normscope
