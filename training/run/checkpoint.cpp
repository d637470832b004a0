#include "training/run/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <map>

#include "engine/core/error.h"
#include "engine/io/weights.h"
#include "training/io/codec.h"
#include "training/io/input_value.h"
#include "training/measure/numbers.h"
#include "training/run/network.h"
#include "training/spec/kept_spec.h"
#include "training/spec/spec.h"

namespace normscope {
namespace {

// Rules of what a checkpoint has as JSON beside its tensors, see training/io/codec.h.

constexpr codec::Text kStatName{200};
constexpr codec::List kStatNames{0, 1'000'000, kStatName};

constexpr auto kEvent = codec::row(3, [](auto& io, auto& event) {
  io("step", event.step, codec::Whole{0, kLastEdit});
  io("kind", event.kind, codec::Whole{0, static_cast<int>(RunEvent::Kind::BeganBelow)});
  io("text", event.text, codec::Text{3 * kLongestText});
});
constexpr codec::List kEvents{0, 1'000'000, kEvent};

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
    return codec::List{0, kMaxEdits, edit(low, high)}.write(edits);
  }
  void read(const InputValue& json, std::vector<Edit>& edits) const {
    edits.clear();
    for (const InputValue& item : json.list(0, kMaxEdits))
      edit(edits.empty() ? low : edits.back().step, high).read(item, edits.emplace_back());
  }
};

/// Both are for a run after `step` steps.
auto report_rule(int32_t step = kMaxSteps) {
  return codec::Maybe{codec::row(3, [=](auto& io, auto& report) {
    io("layer", report.layer, codec::Whole{0, 1024});
    io("tensor", report.tensor, kStatName);
    io("step", report.step, codec::Whole{0, step});
  })};
}
auto plateau_rule(int32_t step = kMaxSteps) {
  return codec::Object{[=](auto& io, auto& state) {
    io("count", state.count, codec::Whole{0, step});
    io("stuck", state.stuck);
    io("learning_since", state.learning_since, codec::Whole{0, step});
  }};
}

// Allows names and paths with bytes that are not UTF-8, which JSON cannot hold.
std::string text_of(const auto& value, const auto& rule) { return codec::text_of(rule.write(value)); }

std::vector<std::string> names_of(const std::vector<StatInfo>& layout) {
  std::vector<std::string> names;
  for (const StatInfo& stat : layout) names.push_back(stat.name);
  return names;
}

template <typename T>
TensorShape row(const std::vector<T>& values) {
  return {static_cast<int64_t>(values.size())};
}

Message where_of(const SafetensorsFile& file) { return {"checkpoint {}", file.path()}; }

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

// Reads the dense series and the validation losses into a history that has no step yet, and all losses.
void read_losses(const SafetensorsFile& file, RunRecord& run, History& history, int32_t step) {
  // A run that repeats steps after a lost device has a history beyond its step.
  const std::vector<int32_t> steps = steps_of(file, "history/steps", kMaxSteps);
  if (steps.size() > kDenseSteps)
    fail(where_of(file), "history/steps has {} numbers: expected at most {}", steps.size(), kDenseSteps);
  const std::vector<float> losses = file.floats("history/losses"), rates = file.floats("history/rates");
  require_length(file, "history/losses", losses, steps.size());
  require_length(file, "history/rates", rates, steps.size());
  const std::vector<int32_t> validation_steps = file.int32s("validation/steps");
  require_each(where_of(file), "validation/steps", validation_steps, 0, kMaxSteps);
  const std::vector<float> validation = file.floats("validation/losses");
  require_length(file, "validation/losses", validation, validation_steps.size());
  run.losses = file.floats("losses");
  require_length(file, "losses", run.losses, static_cast<size_t>(step));
  history.append_dense(steps, losses, rates);
  for (size_t i = 0; i < validation.size(); ++i)
    history.append_validation(validation_steps[i], static_cast<double>(validation[i]));
}

// Allows a file without frames, as only plots need them: a fold of Admin has none.
FrameBlock read_frames(const SafetensorsFile& file, std::vector<StatInfo>& layout) {
  FrameBlock block;
  if (!file.contains("frames/steps")) return block;
  std::vector<std::string> names;
  metadata(file, "stats", names, kStatNames);
  for (std::string& name : names) {
    const int32_t layer = place_of(name).layer;
    layout.push_back({std::move(name), layer});
  }
  block.steps = steps_of(file, "frames/steps", kMaxSteps);
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
  require_each(where_of(file), "frames/gone_steps", block.gone_steps, 0, kMaxSteps);
  return names.size() == width ? block : FrameBlock{};
}

/// The steps between live measurements. Files of earlier versions do not say it: there was one at every step, or none
/// where the first frame says nothing of any update.
int32_t measured_every_of(const SafetensorsFile& file, const FrameBlock& frames,
                          const std::vector<StatInfo>& layout) {
  int32_t every = 0;
  if (file.metadata().contains("measured_every")) {
    metadata(file, "measured_every", every, codec::Whole{0, kMaxSteps});
    return every;
  }
  if (frames.steps.empty()) return 0;
  bool lacks = false;
  for (size_t i = 0; i < layout.size(); ++i) {
    if (!layout[i].name.ends_with(".update_cosine")) continue;
    if (std::isfinite(frames.stats[i])) return 1;
    lacks = true;
  }
  return lacks ? 0 : 1;
}

/// Reads a plateau's means and losses, which a checkpoint has as tensors; the rest stays 0.
Plateau::State plateau_from(const SafetensorsFile& file) {
  Plateau::State state;
  const auto read = [&](const char* name, auto& to) {
    const std::vector<double> numbers = file.doubles(name);
    if (numbers.size() != to.size())
      fail(where_of(file), "{} has {} numbers: expected {}", name, numbers.size(), to.size());
    std::ranges::copy(numbers, to.begin());
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
    const Message where = where_of(file);
    if (where_of(error.message) == where) throw;
    throw Error("[{}] {}", where, error.message);
  }
}

int32_t step_of(const SafetensorsFile& file) {
  int32_t step = 0;
  metadata(file, "step", step, codec::Whole{0, kMaxSteps});
  return step;
}

}  // namespace

void write_checkpoint(const RunRecord& record, const std::string& path, size_t frame_bytes) {
  SafetensorsWriter file;
  const Keyframe& state = *record.end;
  const History& history = *record.history;
  add_parameters(file, record.parameters, state.blocks);
  const FrameBlock frames = history.frames(state.step, frame_bytes);
  const Series loss = history.loss(), rate = history.rate(), validation = history.validation();
  const std::vector<double> window(state.plateau.window.begin(), state.plateau.window.end()),
      blocks(state.plateau.blocks.begin(), state.plateau.blocks.end());
  file.add("history/steps", row(loss.steps), std::span(loss.steps));
  file.add("history/losses", row(loss.values), std::span(loss.values));
  file.add("history/rates", row(rate.values), std::span(rate.values));
  file.add("validation/steps", row(validation.steps), std::span(validation.steps));
  file.add("validation/losses", row(validation.values), std::span(validation.values));
  file.add("losses", row(record.losses), std::span(record.losses));
  file.add("plateau/window", row(window), std::span(window));
  file.add("plateau/blocks", row(blocks), std::span(blocks));
  add_memory(file, state.memory);
  file.add("frames/steps", row(frames.steps), std::span(frames.steps));
  file.add("frames/stats", row(frames.stats), std::span(frames.stats));
  file.add("frames/gone", row(frames.gone), std::span(frames.gone));
  file.add("frames/gone_values", row(frames.gone_values), std::span(frames.gone_values));
  file.add("frames/gone_steps", row(frames.gone_steps), std::span(frames.gone_steps));
  const std::map<std::string, std::string> metadata{
      {"format", std::string(kOurRun)},
      {"step", std::to_string(state.step)},
      {"data_hash", record.data.hash},
      {"origin", text_of(record.origin, WholeSpec{})},
      {"edits", text_of(record.edits, EditRows{})},
      {"scheduled", text_of(record.scheduled, EditRows{})},
      {"plateau", text_of(state.plateau, plateau_rule())},
      {"events", text_of(history.events(), kEvents)},
      {"stats", text_of(names_of(history.layout()), kStatNames)},
      {"measured_every", std::to_string(record.measured_every)},
      {"non_finite", text_of(record.broken, report_rule())}};
  for (const auto& [key, value] : metadata) file.set_metadata(key, value);
  file.write(path);
}

void read_weights(const SafetensorsFile& file, Store& store) {
  if (!load(store, file).optimizer)
    fail(where_of(file), "has no moments of its weights: expected m/NAME and v/NAME");
}

int64_t most_bytes(const RunIdentity& run) {
  int64_t bytes = estimated_bytes(run.origin);
  with_edits(with_edits(run.origin, run.edits, bytes), run.scheduled, bytes);
  return bytes;
}

RunIdentity read_identity(const SafetensorsFile& file) {
  const auto format = file.metadata().find("format");
  if (format == file.metadata().end() || format->second != kOurRun)
    fail(where_of(file), "is no saved run: expected metadata format = \"{}\"", kOurRun);
  RunIdentity run;
  const int32_t step = step_of(file);
  const std::string& hash = file.metadata("data_hash");
  if (hash.size() > 16)
    fail(where_of(file), "metadata data_hash is {}: expected 16 hexadecimal digits", shown_text(hash));
  of_file(file, [&] {
    int64_t bytes = 0;
    metadata(file, "origin", run.origin, WholeSpec{});
    estimated_bytes(run.origin);
    metadata(file, "edits", run.edits, EditRows{0, step + 1});
    const RunSpec spec = with_edits(run.origin, run.edits, bytes);
    metadata(file, "scheduled", run.scheduled, EditRows{step + 1});
    for (const Edit& edit : run.scheduled) require_editable(edit.key);
    with_edits(spec, run.scheduled, bytes);
    run.data = {data_name(spec.data), hash, 0, unit_of(spec.data)};
    return 0;
  });
  return run;
}

RunRecord read_checkpoint(const SafetensorsFile& file) {
  RunRecord run{read_identity(file), {}};
  auto end = std::make_shared<Keyframe>();
  end->step = step_of(file);
  end->edits = run.edits.size();
  std::vector<StatInfo> layout;
  const FrameBlock frames = read_frames(file, layout);
  run.measured_every = measured_every_of(file, frames, layout);
  auto history = std::make_shared<History>(std::move(layout));
  read_losses(file, run, *history, end->step);
  history->restore_frames(frames);
  std::vector<RunEvent> events;
  metadata(file, "events", events, kEvents);
  for (RunEvent& event : events) {  // earlier versions told beginning below the plateau by its text alone
    if (event.kind == RunEvent::Kind::LeftPlateau && event.text == "began below the plateau")
      event.kind = RunEvent::Kind::BeganBelow;
    history->add_event(std::move(event));
  }
  if (history->last_step() > end->step) history->truncate(end->step);  // they are made again
  end->plateau = plateau_from(file);
  metadata(file, "plateau", end->plateau, plateau_rule(end->step));
  metadata(file, "non_finite", run.broken, report_rule(end->step));
  end->memory = memory_from(file);
  const RunSpec spec = run.spec();
  require_memory_of(where_of(file), end->memory, spec.model, spec.train.batch);
  run.history = std::move(history);
  run.end = std::move(end);
  return run;
}

namespace {

constexpr std::initializer_list<const ModelFormat*> kFormats = {
#define MODEL_FORMAT(format) &format,
#include "chosen/model_formats.def"
#undef MODEL_FORMAT
};

}  // namespace

const ModelFormat* format_of_model(const std::string& path) {
  for (const ModelFormat* format : kFormats)
    if (const auto look = format->look(path); look && look->opens) return format;
  return nullptr;
}

std::optional<ModelFormat::Look> look_at_model(const std::string& path) {
  for (const ModelFormat* format : kFormats)
    if (auto look = format->look(path)) return look;
  return std::nullopt;
}

std::string place_of_weights(const std::string& path) {
  for (const ModelFormat* format : kFormats)
    if (std::string place = format->place(path); place != path) return place;
  return path;
}

// A folder that no format knows goes to the first format, whose error names the missing files.
const ModelFormat* format_of_weights(const std::string& path) {
  if (const ModelFormat* format = format_of_model(path)) return format;
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return nullptr;
  if (!std::empty(kFormats)) return *kFormats.begin();
  fail("train.init_from", "{} is a folder: expected the file of a saved run", path);
}

}  // namespace normscope
