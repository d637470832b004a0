// Run::save and Run::load: a run as a safetensors file.
//
// Tensors: NAME (weights), m/NAME and v/NAME (optimizer state), history/steps, history/losses, history/rates,
// validation/steps, validation/losses, losses (those before a fork included), plateau/window.
// Metadata: format, step, data_hash, and as JSON text: origin (the specification as [key, value] pairs),
// edits and scheduled ([step, key, value]), plateau, events, non_finite, validation. The present
// specification is not stored: it is origin with the edits applied.
#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "io/safetensors.h"
#include "train/run_impl.h"

namespace normscope {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "normscope run 1";
constexpr const char* kWhere = "checkpoint";

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

Plateau::State plateau_from(const Json& json, const std::vector<double>& window) {
  Plateau::State state{{},
                       json.at("count").get<int32_t>(),
                       json.at("stuck").get<bool>(),
                       json.at("learning_since").get<int32_t>()};
  if (window.size() != state.window.size() || state.count < 0)
    fail(kWhere, "plateau/window has {} numbers: expected {}", window.size(), state.window.size());
  std::copy(window.begin(), window.end(), state.window.begin());
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

template <typename T>
TensorShape row(const std::vector<T>& values) {
  return {static_cast<int64_t>(values.size())};
}

}  // namespace

void Run::save(const std::string& path) const {
  const Impl& run = *impl_;
  const Store& store = run.network->store;
  SafetensorsWriter file;
  std::vector<std::vector<float>> blocks;  // lives until write()
  blocks.reserve(store.parameters().size() * std::size(kBlocks));
  for (size_t i = 0; i < store.parameters().size(); ++i)
    for (const auto& [prefix, block] : kBlocks) {
      const ParameterInfo& info = store.parameters()[i];
      file.add(prefix + info.name, shape_of(info.shape),
               blocks.emplace_back(store.read(static_cast<int32_t>(i), block)));
    }
  const Series loss = run.history->loss(), rate = run.history->rate(), validation = run.history->validation();
  const Plateau::State plateau = run.plateau.state();
  const std::vector<double> window(plateau.window.begin(), plateau.window.end());
  file.add("history/steps", row(loss.steps), std::span(loss.steps));
  file.add("history/losses", row(loss.values), std::span(loss.values));
  file.add("history/rates", row(rate.values), std::span(rate.values));
  file.add("validation/steps", row(validation.steps), std::span(validation.steps));
  file.add("validation/losses", row(validation.values), std::span(validation.values));
  file.add("losses", row(run.losses), std::span(run.losses));
  file.add("plateau/window", row(window), std::span(window));

  file.set_metadata("format", kFormat);
  file.set_metadata("step", std::to_string(run.steps));
  file.set_metadata("data_hash", fmt::format("{:016x}", run.task->hash()));
  file.set_metadata("origin", text_of(json_of(run.origin)));
  file.set_metadata("edits", text_of(json_of(run.edits)));
  file.set_metadata("scheduled", text_of(json_of(run.scheduled)));
  file.set_metadata("plateau", text_of(json_of(plateau)));
  file.set_metadata("events", text_of(json_of(run.history->events())));
  file.set_metadata("non_finite", text_of(json_of(run.broken)));
  file.write(path);
}

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
  const auto validation_steps = file.int32s("validation/steps");
  const auto validation_losses = file.floats("validation/losses");
  for (size_t i = 0; i < std::min(validation_steps.size(), validation_losses.size()); ++i)
    made->history->append_validation(validation_steps[i], static_cast<double>(validation_losses[i]));
  if (!validation_losses.empty()) made->validation = static_cast<double>(validation_losses.back());
  made->losses = file.floats("losses");
  read_json(file, "events", [&](const Json& json) { return read_events(json, *made->history), true; });
  made->history->add_event({made->steps, RunEvent::Kind::Resumed, "resumed"});
  made->plateau.restore(read_json(
      file, "plateau", [&](const Json& json) { return plateau_from(json, file.doubles("plateau/window")); }));
  made->broken = read_json(file, "non_finite", [](const Json& json) { return report_from(json); });
  made->refresh_level();
  return std::unique_ptr<Run>(new Run(std::move(made)));
}

}  // namespace normscope
