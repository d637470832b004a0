#include "engine/io/weights.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/json_string.h"
#include "engine/io/safetensors.h"
#include "engine/tape/backend.h"

namespace normscope {
namespace {

constexpr std::string_view kFormat = "normscope weights 1";
constexpr std::pair<Store::Block, std::string_view> kBlocks[] = {
    {Store::Block::Value, ""}, {Store::Block::M, "m/"}, {Store::Block::V, "v/"}};

Message where(const SafetensorsFile& file) { return {"safetensors {}", file.path()}; }

TensorShape shape_of(const ParameterInfo& info) { return {info.shape.dim, info.shape.dim + info.shape.rank}; }

std::string name_of(const ParameterInfo& info, std::string_view prefix) {
  return std::string(prefix) + info.name;
}

bool has_moments(const SafetensorsFile& file, const Store& store) {
  return std::ranges::any_of(store.parameters(), [&](const ParameterInfo& info) {
    return file.contains(name_of(info, "m/")) || file.contains(name_of(info, "v/"));
  });
}

/// The updates that its moments have seen. A saved run calls them its step.
uint32_t steps_of(const SafetensorsFile& file) {
  const auto& metadata = file.metadata();
  const auto format = metadata.find("format");
  const char* key = format != metadata.end() && format->second == kOurRun ? "step" : "steps";
  const auto found = metadata.find(key);
  if (found == metadata.end())
    fail(
        where(file),
        "has an optimizer's moments, but not its steps: expected metadata {}, or to be loaded without its moments",
        key);
  const std::string& text = found->second;
  uint32_t steps = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, steps);
  if (error != std::errc{} || at != end)
    fail(where(file), "metadata {} is {}: expected a whole number from 0 to {}", key, shown_text(text),
         UINT32_MAX);
  return steps;
}

/// A tensor of the file for a block of a parameter.
struct Match {
  int32_t parameter;
  Store::Block block;
  std::string tensor;
};

/// What of a file goes where; the report has the rest.
std::vector<Match> matches(const SafetensorsFile& file, const Store& store, bool moments,
                           LoadReport& report) {
  std::vector<Match> found;
  std::set<std::string> known;
  for (size_t i = 0; i < store.parameters().size(); ++i) {
    const ParameterInfo& info = store.parameters()[i];
    for (const auto& [block, prefix] : kBlocks) {
      if (block != Store::Block::Value && !moments) continue;
      std::string tensor = name_of(info, prefix);
      known.insert(tensor);
      if (!file.contains(tensor))
        report.missing.push_back(std::move(tensor));
      else if (file.shape(tensor) != shape_of(info))
        report.other_shape.push_back(std::move(tensor));
      else
        found.push_back({static_cast<int32_t>(i), block, std::move(tensor)});
    }
  }
  for (std::string& name : file.names())
    if (!known.contains(name)) report.unused.push_back(std::move(name));
  return found;
}

/// The three names of the file that are most like a missing one, with their shapes.
Message nearest_tensors(const SafetensorsFile& file, std::string_view missing) {
  const std::vector<std::string> all = file.names();
  std::vector<std::string_view> names(all.begin(), all.end());
  std::vector<std::string> near;
  for (int i = 0; i < 3 && !names.empty(); ++i) {
    const std::string_view name = nearest(missing, names);
    near.push_back(fmt::format("{} {}", shown_text(name), shape_text(file.shape(name))));
    std::erase(names, name);
  }
  return near.empty() ? Message("it has no tensor at all")
                      : Message("the nearest names in it are {}", in_words(near, "and"));
}

/// The shape that a tensor of the file has to have.
std::string wanted_shape(const Store& store, std::string_view tensor) {
  for (const ParameterInfo& info : store.parameters())
    for (const auto& [block, prefix] : kBlocks)
      if (name_of(info, prefix) == tensor) return to_string(info.shape);
  return {};
}

[[noreturn]] void refuse(const SafetensorsFile& file, const Store& store, const LoadReport& report) {
  const size_t others = report.missing.size() + report.other_shape.size() - 1;
  const Message more = others > 0 ? Message(", and {} more do not fit", others) : Message();
  if (report.missing.empty()) {
    const std::string& name = report.other_shape.front();
    fail(where(file), "tensor {}: shape {} in the file, expected {}{}", shown_text(name),
         shape_text(file.shape(name)), wanted_shape(store, name), more);
  }
  const std::string& name = report.missing.front();
  fail(where(file), "tensor {}: not in the file, expected it with shape {}{}; {}", shown_text(name),
       wanted_shape(store, name), more, nearest_tensors(file, name));
}

}  // namespace

void add_parameters(SafetensorsWriter& file, const std::vector<ParameterInfo>& parameters,
                    std::span<const std::vector<float>> blocks) {
  for (const ParameterInfo& info : parameters)
    for (size_t b = 0; b < blocks.size(); ++b)
      file.add(name_of(info, kBlocks[b].second), shape_of(info),
               std::span(blocks[b]).subspan(info.offset, static_cast<size_t>(info.shape.size())));
}

void save(const Store& store, const std::string& path, const SaveOptions& options) {
  const bool moments = options.optimizer && store.has_moments();
  std::vector<std::vector<float>> blocks;
  for (const auto& [block, prefix] : kBlocks) {
    if (block != Store::Block::Value && !moments) continue;
    blocks.emplace_back(store.size());
    store.backend().download(store.block(block), 0, blocks.back());
  }
  SafetensorsWriter file;
  add_parameters(file, store.parameters(), blocks);
  for (const auto& [key, value] : options.metadata) {
    if (key == "format" || key == "steps")
      fail({"safetensors {}", path}, "metadata {} is written by save(): expected another key", key);
    file.set_metadata(key, value);
  }
  file.set_metadata("format", std::string(kFormat));
  if (moments) file.set_metadata("steps", std::to_string(store.steps()));
  file.write(path);
}

LoadReport load(Store& store, const std::string& path, const LoadOptions& options) {
  return load(store, SafetensorsFile::load(path), options);
}

LoadReport load(Store& store, const SafetensorsFile& file, const LoadOptions& options) {
  if (store.parameters().empty())
    fail(where(file), "the store has no parameters yet: expected the network to be recorded before");
  LoadReport report;
  const bool room = store.has_moments() || !store.materialized();
  report.optimizer = options.optimizer && room && has_moments(file, store);
  const std::vector<Match> found = matches(file, store, report.optimizer, report);
  if (!options.partial && !(report.missing.empty() && report.other_shape.empty()))
    refuse(file, store, report);
  for (const Match& match : found) file.require_floats(match.tensor);
  const uint32_t steps = report.optimizer ? steps_of(file) : store.steps();
  if (!store.materialized()) {
    const auto values = std::ranges::count(found, Store::Block::Value, &Match::block);
    if (!store.seed_at_seal() && static_cast<size_t>(values) < store.parameters().size())
      fail(where(file), "has {} of the store's {} parameters: expected materialize() before, for the others",
           values, store.parameters().size());
    store.materialize(store.seed_at_seal().value_or(0));  // which gives values to those that the file lacks
  }
  for (const Match& match : found) store.write(match.parameter, file.floats(match.tensor), match.block);
  store.set_steps(steps);
  report.steps = steps;
  return report;
}

}  // namespace normscope
