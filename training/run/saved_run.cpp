// See saved_run.h. The format is described in checkpoint.cpp, which writes it.
#include "training/run/saved_run.h"

#include <algorithm>

#include "engine/core/error.h"
#include "engine/io/input_value.h"
#include "training/spec/limits.h"

namespace normscope {
namespace {

constexpr size_t kMostFields = 4096;  // the table's, and three wirings a layer of two stacks
constexpr size_t kMostEvents = 1'000'000;
constexpr size_t kMostStats = 1'000'000;
constexpr size_t kLongestName = 200;
constexpr int32_t kMostLayers = 1024;

std::string where_of(const SafetensorsFile& file) { return "checkpoint " + file.path(); }

InputValue metadata(const SafetensorsFile& file, const std::string& key) {
  return InputValue::parse(file.metadata(key), where_of(file), "metadata " + key);
}

RunSpec spec_from(const InputValue& list) {
  RunSpec spec;
  for (const InputValue& pair : list.list(0, kMostFields)) {
    const auto both = pair.list(2, 2);
    set_field(spec, both[0].text(kLongestText), both[1].text(kLongestText));
  }
  return spec;
}

/// In the order of their steps, which lie between `low` and `high`.
std::vector<Edit> edits_from(const InputValue& list, int32_t low, int32_t high) {
  std::vector<Edit> edits;
  for (const InputValue& item : list.list(0, kMostEdits)) {
    const auto parts = item.list(3, 3);
    edits.push_back({parts[0].whole(low, high), std::string(current_key(parts[1].text(kLongestText))),
                     parts[2].text(kLongestText)});
    low = edits.back().step;
  }
  return edits;
}

std::vector<RunEvent> events_from(const InputValue& list) {
  std::vector<RunEvent> events;
  for (const InputValue& item : list.list(0, kMostEvents)) {
    const auto parts = item.list(3, 3);
    const int32_t kind = parts[1].whole(0, static_cast<int32_t>(RunEvent::Kind::Resumed));
    events.push_back(
        {parts[0].whole(0, kLastEdit), static_cast<RunEvent::Kind>(kind), parts[2].text(3 * kLongestText)});
  }
  return events;
}

std::optional<NonFiniteReport> report_from(const InputValue& json, int32_t step) {
  if (json.is_null()) return std::nullopt;
  const auto parts = json.list(3, 3);
  return NonFiniteReport{parts[0].whole(0, kMostLayers), parts[1].text(kLongestName),
                         parts[2].whole(0, step)};
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
  // A run that makes steps again after a lost device has a history beyond its step.
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

// Frames are there to be looked at: a file of an older version may have none.
void read_frames(const SafetensorsFile& file, SavedRun& run) {
  if (!file.contains("frames/steps")) return;
  if (file.metadata().contains("stats"))
    for (const InputValue& name : metadata(file, "stats").list(0, kMostStats))
      run.stats.push_back(name.text(kLongestName));
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

RunSpec with_edits(RunSpec spec, const std::vector<Edit>& edits, int64_t& bytes) {
  for (const Edit& edit : edits) {
    set_field(spec, edit.key, edit.value);
    bytes = std::max(bytes, estimated_bytes(spec));
  }
  validate(spec);
  return spec;
}

// What a specification cannot be is said by the field table, which knows nothing of the file.
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

Plateau::State plateau_from(std::string_view where, const SafetensorsFile& file) {
  Plateau::State state;
  const auto read = [&](const char* name, auto& to) {
    const std::vector<double> numbers = file.doubles(name);
    if (numbers.size() != to.size())
      fail(where, "{} has {} numbers: expected {}", name, numbers.size(), to.size());
    std::copy(numbers.begin(), numbers.end(), to.begin());
  };
  read("plateau/window", state.window);
  if (file.contains("plateau/blocks")) read("plateau/blocks", state.blocks);  // files of before lack them
  return state;
}

SavedRun read_saved_header(const SafetensorsFile& file) {
  const auto format = file.metadata().find("format");
  if (format == file.metadata().end() || format->second != kSavedRunFormat)
    fail(where_of(file), "is no saved run: expected metadata format = \"{}\"", kSavedRunFormat);
  SavedRun run;
  run.step = metadata(file, "step").whole(0, kMostSteps);
  run.data_hash = file.metadata("data_hash");
  if (run.data_hash.size() > 16)
    fail(where_of(file), "metadata data_hash is {}: expected 16 hexadecimal digits",
         shown_text(run.data_hash));
  of_file(file, [&] {
    run.origin = spec_from(metadata(file, "origin"));
    run.bytes = estimated_bytes(run.origin);
    run.edits = edits_from(metadata(file, "edits"), 0, run.step + 1);
    run.spec = with_edits(run.origin, run.edits, run.bytes);
    run.scheduled = edits_from(metadata(file, "scheduled"), run.step + 1, kLastEdit);
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
  run.events = events_from(metadata(file, "events"));
  const InputValue plateau = metadata(file, "plateau");
  run.plateau = plateau_from(where_of(file), file);
  run.plateau.count = plateau.at("count").whole(0, run.step);
  run.plateau.stuck = plateau.at("stuck").flag();
  run.plateau.learning_since = plateau.at("learning_since").whole(0, run.step);
  run.broken = report_from(metadata(file, "non_finite"), run.step);
  run.memory = memory_from(file);
  require_memory_of(where_of(file), run.memory, run.spec.model, run.spec.train.batch);
  return run;
}

}  // namespace normscope
