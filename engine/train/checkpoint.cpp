// Run::image, Run::save and Run::load: a run as a safetensors file.
//
// Tensors: NAME (weights), m/NAME and v/NAME (optimizer state), history/steps, history/losses, history/rates,
// validation/steps, validation/losses, losses (those before a fork included), plateau/window, plateau/blocks,
// and the frames of the history, thinned to a few MB: frames/steps, frames/stats, frames/gone,
// frames/gone_values, frames/gone_steps. Metadata: format, step, data_hash, and as JSON text: origin (the
// specification as [key, value] pairs), edits and scheduled ([step, key, value]), plateau, events,
// non_finite, validation. The present specification is not stored: it is origin with the edits applied.
#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "engine/core/error.h"
#include "engine/io/safetensors.h"
#include "engine/train/run_impl.h"

namespace normscope {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "normscope run 1";
constexpr const char* kWhere = "checkpoint";
constexpr size_t kFrameBytes = size_t{3} << 20;  // of the frames in a file

// Names and paths may hold bytes that are not UTF-8; JSON cannot.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

TensorShape shape_of(const Shape& shape) { return {shape.dim, shape.dim + shape.rank}; }

Json json_of(const RunSpec& spec) {
  Json list = Json::array();
  for (const auto& [key, value] : field_values(spec)) list.push_back({key, value});
  return list;
}

Json json_of(const std::vector<Edit>& edits) {
  Json list = Json::array();
  for (const Edit& edit : edits) list.push_back({edit.step, edit.key, edit.value});
  return list;
}

RunSpec spec_from(const Json& list) {
  RunSpec spec;
  for (const Json& pair : list) set_field(spec, pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
  return spec;
}

std::vector<Edit> edits_from(const Json& list) {
  std::vector<Edit> edits;
  for (const Json& edit : list)
    edits.push_back(
        {edit.at(0).get<int32_t>(), edit.at(1).get<std::string>(), edit.at(2).get<std::string>()});
  return edits;
}

SafetensorsFile open_checkpoint(const std::string& path) {
  SafetensorsFile file = SafetensorsFile::load(path);
  const auto format = file.metadata().find("format");
  if (format == file.metadata().end() || format->second != kFormat)
    fail(kWhere, "{} is no saved run: expected metadata format = \"{}\"", path, kFormat);
  return file;
}

// Whatever the metadata's JSON lacks or has of another type becomes one line that names the file.
template <typename Read>
auto read_json(const SafetensorsFile& file, const std::string& key, Read read) {
  try {
    return read(Json::parse(file.metadata(key)));
  } catch (const Json::exception& error) {
    fail(kWhere, "{}: metadata {} is damaged: {}", file.path(), key, error.what());
  }
}

int32_t integer_of(const SafetensorsFile& file, const std::string& key) {
  const std::string& text = file.metadata(key);
  int32_t value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || at != text.data() + text.size() || value < 0)
    fail(kWhere, "{}: metadata {} is '{}': expected a whole number", file.path(), key, text);
  return value;
}

constexpr std::pair<const char*, Store::Block> kBlocks[] = {
    {"", Store::Block::Value}, {"m/", Store::Block::M}, {"v/", Store::Block::V}};

void read_weights(const SafetensorsFile& file, Store& store) {
  for (size_t i = 0; i < store.parameters().size(); ++i) {
    const ParameterInfo& info = store.parameters()[i];
    for (const auto& [prefix, block] : kBlocks) {
      file.require_shape(prefix + info.name, shape_of(info.shape));
      store.write(static_cast<int32_t>(i), file.floats(prefix + info.name), block);
    }
  }
}

Json json_of(const Plateau::State& state) {
  return {{"count", state.count}, {"stuck", state.stuck}, {"learning_since", state.learning_since}};
}

Plateau::State plateau_from(const Json& json, const std::vector<double>& window,
                            const std::vector<double>& blocks) {
  Plateau::State state{{},
                       json.at("count").get<int32_t>(),
                       json.at("stuck").get<bool>(),
                       json.at("learning_since").get<int32_t>()};
  if (window.size() != state.window.size() || state.count < 0)
    fail(kWhere, "plateau/window has {} numbers: expected {}", window.size(), state.window.size());
  std::copy(window.begin(), window.end(), state.window.begin());
  if (blocks.size() == state.blocks.size()) std::copy(blocks.begin(), blocks.end(), state.blocks.begin());
  return state;
}

Json json_of(const std::vector<RunEvent>& events) {
  Json list = Json::array();
  for (const RunEvent& event : events) list.push_back({event.step, static_cast<int>(event.kind), event.text});
  return list;
}

void read_events(const Json& list, History& history) {
  for (const Json& event : list) {
    const int kind = event.at(1).get<int>();
    if (kind < 0 || kind > static_cast<int>(RunEvent::Kind::Resumed))
      fail(kWhere, "event kind {} is unknown", kind);
    history.add_event(
        {event.at(0).get<int32_t>(), static_cast<RunEvent::Kind>(kind), event.at(2).get<std::string>()});
  }
}

Json json_of(const std::optional<NonFiniteReport>& report) {
  if (!report) return nullptr;
  return {report->layer, report->tensor, report->step};
}

std::optional<NonFiniteReport> report_from(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return NonFiniteReport{json.at(0).get<int32_t>(), json.at(1).get<std::string>(), json.at(2).get<int32_t>()};
}

// Frames are there to be looked at: those of another version, or of a file without any, are left out.
void read_frames(const SafetensorsFile& file, History& history) {
  if (!file.contains("frames/steps")) return;
  FrameBlock block;
  block.steps = file.int32s("frames/steps");
  block.stats = file.floats("frames/stats");
  block.gone = file.int32s("frames/gone");
  block.gone_values = file.floats("frames/gone_values");
  block.gone_steps = file.int32s("frames/gone_steps");
  if (block.stats.size() == block.steps.size() * history.layout().size()) history.restore_frames(block);
}

template <typename T>
TensorShape row(const std::vector<T>& values) {
  return {static_cast<int64_t>(values.size())};
}

}  // namespace

// The weights as they lie in the Store's blocks; everything else is small, but for the frames, which are read
// when they are written: the History may be read by any thread.
struct RunImage::Data {
  std::vector<ParameterInfo> parameters;
  std::vector<float> weights[std::size(kBlocks)];
  std::shared_ptr<const History> history;
  Series loss, rate, validation;
  std::vector<float> losses;
  std::vector<double> window, blocks;  // of the plateau
  int32_t step = 0;
  std::map<std::string, std::string> metadata;
};

RunImage::RunImage(std::unique_ptr<const Data> data) : data_(std::move(data)) {}
RunImage::~RunImage() = default;

void RunImage::write(const std::string& path) const {
  SafetensorsWriter file;
  for (const ParameterInfo& info : data_->parameters)
    for (size_t b = 0; b < std::size(kBlocks); ++b)
      file.add(kBlocks[b].first + info.name, shape_of(info.shape),
               std::span(data_->weights[b]).subspan(info.offset, static_cast<size_t>(info.shape.size())));
  const FrameBlock frames = data_->history->frames(data_->step, kFrameBytes);
  file.add("history/steps", row(data_->loss.steps), std::span(data_->loss.steps));
  file.add("history/losses", row(data_->loss.values), std::span(data_->loss.values));
  file.add("history/rates", row(data_->rate.values), std::span(data_->rate.values));
  file.add("validation/steps", row(data_->validation.steps), std::span(data_->validation.steps));
  file.add("validation/losses", row(data_->validation.values), std::span(data_->validation.values));
  file.add("losses", row(data_->losses), std::span(data_->losses));
  file.add("plateau/window", row(data_->window), std::span(data_->window));
  file.add("plateau/blocks", row(data_->blocks), std::span(data_->blocks));
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
  const Store& store = run.network->store;
  auto data = std::make_unique<RunImage::Data>();
  data->parameters = store.parameters();
  for (size_t b = 0; b < std::size(kBlocks); ++b) {
    data->weights[b].resize(store.size());
    store.backend().download(store.block(kBlocks[b].second), 0, data->weights[b]);
  }
  run.require_backend();
  data->history = run.history;
  data->loss = run.history->loss(), data->rate = run.history->rate();
  data->validation = run.history->validation();
  data->losses = run.losses;
  data->step = run.steps;
  const Plateau::State plateau = run.plateau.state();
  data->window.assign(plateau.window.begin(), plateau.window.end());
  data->blocks.assign(plateau.blocks.begin(), plateau.blocks.end());
  data->metadata = {{"format", kFormat},
                    {"step", std::to_string(run.steps)},
                    {"data_hash", fmt::format("{:016x}", run.task->hash())},
                    {"origin", text_of(json_of(run.origin))},
                    {"edits", text_of(json_of(run.edits))},
                    {"scheduled", text_of(json_of(run.scheduled))},
                    {"plateau", text_of(json_of(plateau))},
                    {"events", text_of(json_of(run.history->events()))},
                    {"non_finite", text_of(json_of(run.broken))}};
  return std::shared_ptr<const RunImage>(new RunImage(std::move(data)));
}

void Run::save(const std::string& path) const { image()->write(path); }

RunSpec Run::saved_spec(const std::string& path) {
  const SafetensorsFile file = open_checkpoint(path);
  RunSpec spec = read_json(file, "origin", [](const Json& json) { return spec_from(json); });
  for (const Edit& edit : read_json(file, "edits", [](const Json& json) { return edits_from(json); }))
    set_field(spec, edit.key, edit.value);
  return spec;
}

std::unique_ptr<Run> Run::load(const std::string& path, std::shared_ptr<const Task> task, Backend& backend) {
  const SafetensorsFile file = open_checkpoint(path);
  const std::string hash = task ? fmt::format("{:016x}", task->hash()) : "";
  if (file.metadata("data_hash") != hash)
    fail(kWhere, "{} was trained on other data (hash {}): expected the data at hand (hash {})", path,
         file.metadata("data_hash"), hash);
  const RunSpec origin = read_json(file, "origin", [](const Json& json) { return spec_from(json); });
  RunSpec spec = origin;
  const auto edits = read_json(file, "edits", [](const Json& json) { return edits_from(json); });
  for (const Edit& edit : edits) set_field(spec, edit.key, edit.value);

  auto made = std::make_unique<Impl>(spec, std::move(task), backend);
  made->origin = origin;
  made->origin.model.vocabulary = made->spec.model.vocabulary;
  made->edits = edits;
  made->scheduled = read_json(file, "scheduled", [](const Json& json) { return edits_from(json); });
  made->steps = integer_of(file, "step");
  made->rebuild();
  read_weights(file, made->network->store);

  made->history = made->new_history();
  made->history->append_dense(file.int32s("history/steps"), file.floats("history/losses"),
                              file.floats("history/rates"));
  read_frames(file, *made->history);
  const auto validation_steps = file.int32s("validation/steps");
  const auto validation_losses = file.floats("validation/losses");
  for (size_t i = 0; i < std::min(validation_steps.size(), validation_losses.size()); ++i)
    made->history->append_validation(validation_steps[i], static_cast<double>(validation_losses[i]));
  if (!validation_losses.empty()) made->validation = static_cast<double>(validation_losses.back());
  made->losses = file.floats("losses");
  read_json(file, "events", [&](const Json& json) { return read_events(json, *made->history), true; });
  made->history->add_event({made->steps, RunEvent::Kind::Resumed, "resumed"});
  const std::vector<double> window = file.doubles("plateau/window"), blocks = plateau_blocks(file);
  made->plateau.restore(
      read_json(file, "plateau", [&](const Json& json) { return plateau_from(json, window, blocks); }));
  made->broken = read_json(file, "non_finite", [](const Json& json) { return report_from(json); });
  made->refresh_level();
  return std::unique_ptr<Run>(new Run(std::move(made)));
}

}  // namespace normscope
