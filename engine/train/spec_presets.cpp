// Named specifications: the three runs of the hero comparison and the presets of the command line. See
// spec.h.
#include "core/error.h"
#include "train/spec.h"

namespace normscope {
namespace {

constexpr int32_t kHeroWarmup = 200;

RunSpec placed(Placement placement, int32_t warmup) {
  RunSpec spec;
  set_placement(spec.model, placement);
  spec.train.schedule.warmup = warmup;
  return spec;
}

}  // namespace

std::string default_name(const RunSpec& spec) {
  const ModelConfig& model = spec.model;
  const Placement placement =
      placement_of(model.stack(), context_of(model, model.architecture != Architecture::Encoder));
  std::string name = label(placement);
  if (model.norm != NormKind::LayerNorm && placement != Placement::None && placement != Placement::ReZero)
    name += fmt::format(" ({})", short_name(model.norm));
  const int32_t warmup = spec.train.schedule.warmup;
  return name + (warmup > 0 ? fmt::format(", warm-up {}", warmup) : ", no warm-up");
}

std::vector<RunSpec> hero_runs(const DataSpec& data, uint64_t seed) {
  std::vector<RunSpec> runs{placed(Placement::Post, 0), placed(Placement::Post, kHeroWarmup),
                            placed(Placement::Pre, 0)};
  for (RunSpec& run : runs) {
    run.data = data;
    run.data.context = run.model.sequence;
    run.seed = seed;
  }
  return runs;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (Placement placement : kPresets) {
    names.emplace_back(to_string(placement));
    if (placement == Placement::Post) names.emplace_back("post-warmup");
  }
  return names;
}

RunSpec preset_run(std::string_view name) {
  if (name == "post-warmup") return placed(Placement::Post, kHeroWarmup);
  for (Placement placement : kPresets)
    if (name == to_string(placement)) return placed(placement, 0);
  fail("preset", "'{}' is unknown: expected {}", name, fmt::join(preset_names(), ", "));
}

}  // namespace normscope
