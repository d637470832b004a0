// Run::image, Run::save and Run::load: a run as a safetensors file.
//
// Tensors: NAME (weights), m/NAME and v/NAME (optimizer state), history/steps, history/losses, history/rates,
// validation/steps, validation/losses, losses (those before a fork included), plateau/window, plateau/blocks, of a run
// with a memory memory/lengths (B) and memory/states (of each layer (B,M,D)),
// and the frames of the history, thinned to a few MB: frames/steps, frames/stats, frames/gone,
// frames/gone_values, frames/gone_steps. Metadata: format, step, data_hash, and as JSON text: origin (the
// specification as [key, value] pairs), edits and scheduled ([step, key, value]), plateau, events, stats (the names
// of a frame's numbers), non_finite. The present specification is not stored: it is origin with the edits applied.
#include <algorithm>
#include <map>

#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "training/io/safetensors.h"
#include "training/run/run_impl.h"
#include "training/run/saved_run.h"
#include "training/spec/codec.h"
#include "training/spec/kept_spec.h"
#include "training/spec/limits.h"

namespace normscope {
namespace {

constexpr const char* kWhere = "checkpoint";

// Allows names and paths with bytes that are not UTF-8, which JSON cannot hold.
std::string text_of(const auto& value, const auto& rule) { return codec::text_of(rule.write(value)); }

TensorShape shape_of(const Shape& shape) { return {shape.dim, shape.dim + shape.rank}; }

constexpr const char* kPrefixes[] = {"", "m/", "v/"};  // before a parameter's name, for each of
                                                       // kTrainedBlocks

void read_weights(const SafetensorsFile& file, Store& store) {
  for (size_t i = 0; i < store.parameters().size(); ++i) {
    const ParameterInfo& info = store.parameters()[i];
    for (size_t b = 0; b < kTrainedBlocks.size(); ++b) {
      file.require_shape(kPrefixes[b] + info.name, shape_of(info.shape));
      store.write(static_cast<int32_t>(i), file.floats(kPrefixes[b] + info.name), kTrainedBlocks[b]);
    }
  }
}

std::vector<std::string> names_of(const std::vector<StatInfo>& layout) {
  std::vector<std::string> names;
  for (const StatInfo& stat : layout) names.push_back(stat.name);
  return names;
}

template <typename T>
TensorShape row(const std::vector<T>& values) {
  return {static_cast<int64_t>(values.size())};
}

}  // namespace

// A keyframe and what names its numbers. All else is small, except for the history's frames: these are read when they
// are written, as any thread may read the History.
struct RunImage::Data {
  std::shared_ptr<const Keyframe> state;
  std::vector<ParameterInfo> parameters;
  std::shared_ptr<const History> history;
  Series loss, rate, validation;
  std::vector<float> losses;
  std::map<std::string, std::string> metadata;
};

RunImage::RunImage(std::unique_ptr<const Data> data) : data_(std::move(data)) {}
RunImage::~RunImage() = default;

void RunImage::write(const std::string& path, size_t frame_bytes) const {
  SafetensorsWriter file;
  const Keyframe& state = *data_->state;
  for (const ParameterInfo& info : data_->parameters)
    for (size_t b = 0; b < kTrainedBlocks.size(); ++b)
      file.add(kPrefixes[b] + info.name, shape_of(info.shape),
               std::span(state.blocks[b]).subspan(info.offset, static_cast<size_t>(info.shape.size())));
  const FrameBlock frames = data_->history->frames(state.step, frame_bytes);
  const std::vector<double> window(state.plateau.window.begin(), state.plateau.window.end()),
      blocks(state.plateau.blocks.begin(), state.plateau.blocks.end());
  file.add("history/steps", row(data_->loss.steps), std::span(data_->loss.steps));
  file.add("history/losses", row(data_->loss.values), std::span(data_->loss.values));
  file.add("history/rates", row(data_->rate.values), std::span(data_->rate.values));
  file.add("validation/steps", row(data_->validation.steps), std::span(data_->validation.steps));
  file.add("validation/losses", row(data_->validation.values), std::span(data_->validation.values));
  file.add("losses", row(data_->losses), std::span(data_->losses));
  file.add("plateau/window", row(window), std::span(window));
  file.add("plateau/blocks", row(blocks), std::span(blocks));
  add_memory(file, state.memory);
  file.add("frames/steps", row(frames.steps), std::span(frames.steps));
  file.add("frames/stats", row(frames.stats), std::span(frames.stats));
  file.add("frames/gone", row(frames.gone), std::span(frames.gone));
  file.add("frames/gone_values", row(frames.gone_values), std::span(frames.gone_values));
  file.add("frames/gone_steps", row(frames.gone_steps), std::span(frames.gone_steps));
  for (const auto& [key, value] : data_->metadata) file.set_metadata(key, value);
  file.write(path);
}

std::shared_ptr<const RunImage> Run::image() const {
  const Impl& run = *impl_;
  auto data = std::make_unique<RunImage::Data>();
  data->state = run.keyframe();
  data->parameters = run.network->store.parameters();
  data->history = run.history;
  data->loss = run.history->loss();
  data->rate = run.history->rate();
  data->validation = run.history->validation();
  data->losses = run.losses;
  data->metadata = {{"format", kSavedRunFormat},
                    {"step", std::to_string(run.steps)},
                    {"data_hash", fmt::format("{:016x}", run.task->hash())},
                    {"origin", text_of(run.origin, WholeSpec{})},
                    {"edits", text_of(run.edits, EditRows{})},
                    {"scheduled", text_of(run.scheduled, EditRows{})},
                    {"plateau", text_of(data->state->plateau, plateau_rule())},
                    {"events", text_of(run.history->events(), kEvents)},
                    {"stats", text_of(names_of(run.history->layout()), kStatNames)},
                    {"non_finite", text_of(run.broken, report_rule())}};
  return std::shared_ptr<const RunImage>(new RunImage(std::move(data)));
}

void Run::save(const std::string& path, size_t frame_bytes) const { image()->write(path, frame_bytes); }

RunSpec Run::saved_spec(const std::string& path) { return read_saved_run(SafetensorsFile::load(path)).spec; }

std::unique_ptr<Run> Run::load(const std::string& path, std::shared_ptr<const Task> task, Backend& backend) {
  const SafetensorsFile file = SafetensorsFile::load(path);
  SavedRun saved = read_saved_run(file);
  const std::string hash = task ? fmt::format("{:016x}", task->hash()) : "";
  if (saved.data_hash != hash)
    fail(kWhere, "{} was trained on other data (hash {}): expected the data at hand (hash {})", file.path(),
         saved.data_hash, hash);
  RunSpec sized = saved.spec;
  if (task) fit_to_data(sized, *task);
  require_bytes(file.path(), std::max(saved.bytes, estimated_bytes(sized)));

  auto made = std::make_unique<Impl>(saved.spec, std::move(task), backend);
  static_cast<RunPast&>(*made) = std::move(static_cast<RunPast&>(saved));
  fit_to_data(made->origin, *made->task);
  made->steps = saved.step;
  made->rebuild();
  read_weights(file, made->network->store);

  made->history = made->new_history();
  restore_history(saved, *made->history);
  const Series validation = made->history->validation();
  if (!validation.values.empty()) made->validation = static_cast<double>(validation.values.back());
  made->history->add_event({made->steps, RunEvent::Kind::Resumed, "resumed"});
  made->plateau.restore(saved.plateau);
  made->memory.restore(std::move(saved.memory));
  made->refresh_level();
  return std::unique_ptr<Run>(new Run(std::move(made)));
}

}  // namespace normscope
