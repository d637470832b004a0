// See saved_run.h. The format is described in checkpoint.cpp, which writes it.
#include "training/run/saved_run.h"

#include <algorithm>

#include "engine/core/error.h"
#include "training/io/input_value.h"
#include "training/spec/codec.h"
#include "training/spec/kept_spec.h"
#include "training/spec/limits.h"

namespace normscope {
namespace {

std::string where_of(const SafetensorsFile& file) { return "checkpoint " + file.path(); }

template <class T, class Rule>
void metadata(const SafetensorsFile& file, const std::string& key, T& value, const Rule& rule) {
  rule.read(InputValue::parse(file.metadata(key), where_of(file), "metadata " + key), value);
}

template <typename T>
void require_length(const SafetensorsFile& file, const char* tensor, const std::vector<T>& values,
                    size_t expected) {
  if (values.size() != expected)
    fail(where_of(file), "{} has {} numbers: expected {}", tensor, values.size(), expected);
}

std::vector<int32_t> steps_of(const SafetensorsFile& file, const char* tensor, int32_t high) {
  std::vector<int32_t> steps = file.int32s(tensor);
  require_ascending(where_of(file), tensor, steps, 1, high);
  return steps;
}

void read_history(const SafetensorsFile& file, SavedRun& run) {
  // A run that repeats steps after a lost device has a history beyond its step.
  run.loss_steps = steps_of(file, "history/steps", kMostSteps);
  if (run.loss_steps.size() > kDenseSteps)
    fail(where_of(file), "history/steps has {} numbers: expected at most {}", run.loss_steps.size(),
         kDenseSteps);
  run.history_losses = file.floats("history/losses");
  run.history_rates = file.floats("history/rates");
  require_length(file, "history/losses", run.history_losses, run.loss_steps.size());
  require_length(file, "history/rates", run.history_rates, run.loss_steps.size());
  run.validation_steps = file.int32s("validation/steps");
  require_each(where_of(file), "validation/steps", run.validation_steps, 0, kMostSteps);
  run.validation_losses = file.floats("validation/losses");
  require_length(file, "validation/losses", run.validation_losses, run.validation_steps.size());
  run.losses = file.floats("losses");
  require_length(file, "losses", run.losses, static_cast<size_t>(run.step));
}

// Allows a file without frames, which only serve to be looked at: a fold of Admin has none.
void read_frames(const SafetensorsFile& file, SavedRun& run) {
  if (!file.contains("frames/steps")) return;
  metadata(file, "stats", run.stats, kStatNames);
  FrameBlock& block = run.frames;
  block.steps = steps_of(file, "frames/steps", kMostSteps);
  block.stats = file.floats("frames/stats");
  if (block.steps.empty() ? !block.stats.empty() : block.stats.size() % block.steps.size() != 0)
    fail(where_of(file), "frames/stats has {} numbers for {} frames: expected as many each",
         block.stats.size(), block.steps.size());
  const size_t width = block.steps.empty() ? 0 : block.stats.size() / block.steps.size();
  block.gone = file.int32s("frames/gone");
  require_ascending(where_of(file), "frames/gone", block.gone, 0,
                    static_cast<int32_t>(block.steps.size()) - 1);
  block.gone_values = file.floats("frames/gone_values");
  require_length(file, "frames/gone_values", block.gone_values, 2 * width * block.gone.size());
  block.gone_steps = file.int32s("frames/gone_steps");
  require_length(file, "frames/gone_steps", block.gone_steps, block.gone_values.size());
  require_each(where_of(file), "frames/gone_steps", block.gone_steps, 0, kMostSteps);
}

/// Finds the numbers of a saved frame in this layout, by name; nothing where a name is unknown here, or out
/// of order.
std::vector<int32_t> places_of(const SavedRun& saved, const std::vector<StatInfo>& layout) {
  const size_t numbers =
      saved.frames.steps.empty() ? 0 : saved.frames.stats.size() / saved.frames.steps.size();
  if (numbers != saved.stats.size()) return {};
  std::vector<int32_t> places;
  size_t place = 0;
  for (size_t i = 0; i < numbers; ++i, ++place) {
    while (place < layout.size() && layout[place].name != saved.stats[i]) ++place;
    if (place == layout.size()) return {};
    places.push_back(static_cast<int32_t>(place));
  }
  return places;
}

void restore_frames(const SavedRun& saved, History& history) {
  const size_t width = history.layout().size();
  const std::vector<int32_t> places = places_of(saved, history.layout());
  if (places.empty()) return;
  if (places.size() == width) return history.restore_frames(saved.frames);
  if ((saved.frames.steps.size() + 4 * saved.frames.gone.size()) * width * sizeof(float) > kHistoryBudget)
    return;
  history.restore_frames(spread(saved.frames, places, width));
}

/// Reads a plateau's means and losses, which a checkpoint has as tensors; the rest stays 0.
Plateau::State plateau_from(const SafetensorsFile& file) {
  Plateau::State state;
  const auto read = [&](const char* name, auto& to) {
    const std::vector<double> numbers = file.doubles(name);
    if (numbers.size() != to.size())
      fail(where_of(file), "{} has {} numbers: expected {}", name, numbers.size(), to.size());
    std::copy(numbers.begin(), numbers.end(), to.begin());
  };
  read("plateau/window", state.window);
  read("plateau/blocks", state.blocks);
  return state;
}

RunSpec with_edits(RunSpec spec, const std::vector<Edit>& edits, int64_t& bytes) {
  for (const Edit& edit : edits) {
    set_field(spec, edit.key, edit.value);
    bytes = std::max(bytes, estimated_bytes(spec));
  }
  validate(spec);
  return spec;
}

// Adds the file's name to an error of the field table, which knows nothing of the file.
template <typename Read>
auto of_file(const SafetensorsFile& file, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    const std::string what = error.what(), where = "[" + where_of(file) + "]";
    if (what.starts_with(where)) throw;
    throw Error(where + " " + what);
  }
}

}  // namespace

void restore_history(const SavedRun& saved, History& history) {
  history.append_dense(saved.loss_steps, saved.history_losses, saved.history_rates);
  restore_frames(saved, history);
  for (size_t i = 0; i < saved.validation_steps.size(); ++i)
    history.append_validation(saved.validation_steps[i], static_cast<double>(saved.validation_losses[i]));
  for (const RunEvent& event : saved.events) history.add_event(event);
  if (history.last_step() > saved.step) history.truncate(saved.step);  // they are made again
}

SavedRun read_saved_header(const SafetensorsFile& file) {
  const auto format = file.metadata().find("format");
  if (format == file.metadata().end() || format->second != kSavedRunFormat)
    fail(where_of(file), "is no saved run: expected metadata format = \"{}\"", kSavedRunFormat);
  SavedRun run;
  metadata(file, "step", run.step, codec::Whole{0, kMostSteps});
  run.data_hash = file.metadata("data_hash");
  if (run.data_hash.size() > 16)
    fail(where_of(file), "metadata data_hash is {}: expected 16 hexadecimal digits",
         shown_text(run.data_hash));
  of_file(file, [&] {
    metadata(file, "origin", run.origin, WholeSpec{});
    run.bytes = estimated_bytes(run.origin);
    metadata(file, "edits", run.edits, EditRows{0, run.step + 1});
    run.spec = with_edits(run.origin, run.edits, run.bytes);
    metadata(file, "scheduled", run.scheduled, EditRows{run.step + 1});
    for (const Edit& edit : run.scheduled) require_editable(edit.key);
    with_edits(run.spec, run.scheduled, run.bytes);
    return 0;
  });
  return run;
}

SavedRun read_saved_run(const SafetensorsFile& file) {
  SavedRun run = read_saved_header(file);
  read_history(file, run);
  read_frames(file, run);
  metadata(file, "events", run.events, kEvents);
  run.plateau = plateau_from(file);
  metadata(file, "plateau", run.plateau, plateau_rule(run.step));
  metadata(file, "non_finite", run.broken, report_rule(run.step));
  run.memory = memory_from(file);
  require_memory_of(where_of(file), run.memory, run.spec.model, run.spec.train.batch);
  return run;
}

}  // namespace normscope
