// Named specifications: the three runs of the default comparison and the command line's presets. See spec.h.
#include <algorithm>
#include <iterator>

#include "engine/core/error.h"
#include "training/io/text.h"
#include "training/spec/spec.h"
#include "training/spec/spec_fields.h"
#include "training/spec/spec_text.h"

namespace normscope {
namespace {

RunSpec placed(Placement placement, int32_t warmup, InitRule init = InitRule::Xavier) {
  RunSpec spec;
  set_placement(spec.model, placement);
  spec.model.init = init;
  spec.train.schedule.warmup = warmup;
  return spec;
}

// Every placement is a preset under its own name with Xavier's initialisation and no warm-up; a row here overrides
// that, or names another combination.
struct RunPreset {
  std::string_view name;
  Placement placement;
  InitRule init = InitRule::Xavier;
  int32_t warmup = 0;
};
constexpr RunPreset kRunPresets[] = {
    {"post-warmup", Placement::Post, InitRule::Xavier, kDefaultWarmup},
    {"post-normal002", Placement::Post, InitRule::Normal002},
    {"post-theory", Placement::Post, InitRule::Theory},
    {"looklinear", Placement::Post, InitRule::LookLinear},
    {"t-fixup", Placement::None, InitRule::TFixup},
    {"fixup", Placement::FixUp, InitRule::FixUp},
    {"b2t-init", Placement::B2T, InitRule::B2T},
};

/// As in Vaswani et al. (2017), with this program's sizes and rate.
RunSpec transformer_of_2017() {
  RunSpec spec = placed(Placement::Post, kDefaultWarmup);
  spec.model.positions = Positions::Sinusoidal;
  return spec;
}

/// A preset that is more than a placement.
struct NamedRun {
  std::string_view name;
  RunSpec (*make)();
};
std::vector<NamedRun> named_runs() {
  std::vector<NamedRun> all{
      {"2017", transformer_of_2017},
#define PRESET(name, make) {name, make},
#include "chosen/presets.def"
#undef PRESET
  };
  for (const ArchitectureRuns* added : added_architectures()) all.push_back({added->preset, added->run});
  return all;
}

bool has_row(std::string_view name) {
  return std::any_of(std::begin(kRunPresets), std::end(kRunPresets),
                     [&](const RunPreset& preset) { return preset.name == name; });
}

const std::string* value_of(const NamedSettings& run, const std::string& key) {
  const auto at =
      std::ranges::find_if(run.settings, [&](const auto& setting) { return setting.first == key; });
  return at == run.settings.end() ? nullptr : &at->second;
}

/// Leaves out fields that are not settings of the experiment, and wirings, which are not words.
bool tells(const std::string& key) {
  return key != "run.name" && key != "train.steps" && !key.starts_with("wiring.");
}

std::string said(const std::string& key, const std::string& value) {
  const Field* field = find_field(key);
  return fmt::format("{} {}", field ? std::string(field->label) : key, value);
}

/// Goes through the settings in their order and names those that part runs that read alike so far.
void tell_apart(std::vector<std::string>& names, const std::vector<NamedSettings>& runs,
                const std::vector<size_t>& alike) {
  std::vector<std::string> told(runs.size());
  for (const auto& [key, first] : runs[alike.front()].settings) {
    if (!tells(key)) continue;
    const auto parts = [&, &key = key](size_t one, size_t other) {
      const std::string *a = value_of(runs[one], key), *b = value_of(runs[other], key);
      return told[one] == told[other] && a && b && *a != *b;
    };
    const bool useful = std::ranges::any_of(alike, [&](size_t one) {
      return std::ranges::any_of(alike, [&](size_t other) { return parts(one, other); });
    });
    for (size_t one : alike)
      if (const std::string* value = value_of(runs[one], key); useful && value)
        told[one] += ", " + said(key, *value);
  }
  for (size_t one : alike) names[one].insert(std::min(names[one].find(", "), names[one].size()), told[one]);
}

}  // namespace

std::string default_name(const RunSpec& spec) {
  const ModelConfig& model = spec.model;
  const Placement placement =
      placement_of(model.stack(), context_of(model, model.architecture != Architecture::Encoder));
  const ArchitectureRuns* added = added_runs(model.architecture);
  std::string name = added ? added->name(placement) : label(placement);
  if (model.norm != NormKind::LayerNorm && (placement == Placement::Custom || has_norms(placement)))
    name += fmt::format(" ({})", short_name(model.norm));
  if (model.init != InitRule::Xavier && (!added || added->started))
    name += fmt::format(", {}", kInitRules[static_cast<size_t>(model.init)]);
  if (const auto said = row_of(model.positions).said; !said.empty()) name += fmt::format(", {}", said);
  if (model.gated) name += ", gated";
  if (kv_heads(model) != model.heads && is_transformer(model.architecture)) name += ", grouped";
  if (model.memory > 0) name += fmt::format(", memory {}", model.memory);
  const int32_t warmup = spec.train.schedule.warmup;
  if (const float target = spec.train.schedule.target; target > 0)
    return name + fmt::format(", warm-up to a loss {}", target);
  return name + (warmup > 0 ? fmt::format(", warm-up {}", warmup) : ", no warm-up");
}

std::vector<std::string> told_apart(const std::vector<NamedSettings>& runs) {
  std::vector<std::string> names;
  for (const NamedSettings& run : runs) names.push_back(run.name);
  for (size_t i = 0; i < runs.size(); ++i) {
    std::vector<size_t> alike;
    for (size_t other = 0; other < runs.size(); ++other)
      if (runs[other].name == runs[i].name) alike.push_back(other);
    if (alike.size() > 1 && alike.front() == i) tell_apart(names, runs, alike);
  }
  return names;
}

std::vector<RunSpec> default_comparison(const DataSpec& data, uint64_t seed) {
  std::vector<RunSpec> runs{placed(Placement::Post, 0), placed(Placement::Post, kDefaultWarmup),
                            placed(Placement::Pre, 0)};
  for (RunSpec& run : runs) {
    run.data = data;
    run.data.context = run.model.sequence;
    run.seed = seed;
  }
  return runs;
}

std::vector<RunSpec> comparison_of(std::string_view architecture) {
  const ArchitectureRuns* added = added_runs(architecture_from(architecture));
  if (!added) return default_comparison();
  std::vector<RunSpec> runs = added->comparison();
  for (RunSpec& run : runs) complete(run);
  return runs;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (Placement placement : kPresets) {
    if (!has_row(to_string(placement))) names.emplace_back(to_string(placement));
    if (placement == Placement::Post) names.emplace_back("post-warmup");
  }
  for (const RunPreset& preset : kRunPresets)
    if (preset.name != "post-warmup") names.emplace_back(preset.name);
  for (const NamedRun& run : named_runs()) names.emplace_back(run.name);
  return names;
}

std::vector<std::string> offered_presets() {
  std::vector<std::string> names = preset_names();
  for (Placement own : added_placements()) names.emplace_back(to_string(own));
  return names;
}

RunSpec preset_run(std::string_view name) {
  for (const NamedRun& run : named_runs())
    if (name == run.name) return run.make();
  for (const RunPreset& preset : kRunPresets)
    if (name == preset.name) return placed(preset.placement, preset.warmup, preset.init);
  for (Placement placement : placements())
    if (name == to_string(placement)) return placed(placement, 0);
  const std::vector<std::string> all = offered_presets();
  fail("preset", "'{}' is unknown: {}", name,
       expected(name, std::vector<std::string_view>(all.begin(), all.end())));
}

}  // namespace normscope
