#include "addons/papers/app/zoo/plan.h"

#include <algorithm>

#include "addons/papers/app/zoo/table.h"
#include "engine/core/error.h"

namespace normscope::zoo {
namespace {

RunSpec base_of(const Plan& plan, const System* system, int32_t layers, bool warm) {
  const BaseSetting setting =
      system ? BaseSetting{nullptr, system->steps, system->warmup} : base_setting(layers);
  const int32_t steps = plan.steps > 0 ? plan.steps : setting.steps;
  const int32_t warmup = plan.warmup > 0 ? plan.warmup : setting.warmup;
  RunSpec spec = preset_run(system ? system->preset : "post");
  const auto set = [&](const char* key, int32_t value) { set_field(spec, key, std::to_string(value)); };
  if (!system) {
    set("model.layers", layers);
    set_field(spec, "train.lr", setting.rate);
  }
  set("train.steps", steps);
  set("train.warmup", warm ? warmup : 0);
  set("train.decay_end", std::max(steps, warmup + 1));
  for (const std::string& assignment : plan.base) change(spec, assignment);
  return spec;
}

bool trained_at(const Plan& plan, const Entry& entry, int32_t layers) {
  if (system_of(entry.group)) return layers == plan.depths.front();
  return layers <= kShallow || plan.deep.empty() ||
         std::find(plan.deep.begin(), plan.deep.end(), entry.name) != plan.deep.end();
}

/// Makes an entry's run with seed 1.
Job job_of(const Plan& plan, size_t e, int32_t layers, bool warm) {
  const Entry& entry = plan.entries[e];
  const System* system = system_of(entry.group);
  Job job{e, system ? 0 : layers, warm, 1, base_of(plan, system, layers, warm)};
  for (const std::string& assignment : entry.set) change(job.spec, assignment);
  job.spec.seed = job.seed;
  job.spec.name = entry.name + (warm ? " with warm-up" : "");
  try {
    complete(job.spec);
    validate(job.spec);
  } catch (const Error& error) {
    throw Error(fmt::format("zoo: {}: {}", entry.name, error.what()));
  }
  return job;
}

}  // namespace

std::vector<std::string> depth_question() {
  std::vector<std::string> names;
  for (const Expected& claim : claims())
    if (claim.layers > kShallow && std::find(names.begin(), names.end(), claim.entry) == names.end())
      names.emplace_back(claim.entry);
  return names;
}

BaseSetting base_setting(int32_t layers) {
  if (layers <= kShallow) return {"3e-3", 300, 200};
  return {"1e-3", 400, 200};
}

std::vector<Job> jobs_of(const Plan& plan) {
  std::vector<Job> jobs;
  for (const int32_t layers : plan.depths) {
    const size_t first = jobs.size();  // the first job of this depth with seed 1
    for (size_t e = 0; e < plan.entries.size(); ++e)
      for (const bool warm : {false, true})
        if (trained_at(plan, plan.entries[e], layers)) jobs.push_back(job_of(plan, e, layers, warm));
    const size_t settings = jobs.size() - first;
    for (uint64_t seed = 2; seed <= static_cast<uint64_t>(plan.seeds); ++seed)
      for (size_t i = 0; i < settings; ++i) {
        jobs.push_back(jobs[first + i]);
        jobs.back().seed = jobs.back().spec.seed = seed;
      }
  }
  return jobs;
}

experiments::Study study_of(const std::vector<Job>& jobs) {
  experiments::Study study{.name = "zoo"};
  for (const Job& job : jobs) study.runs.push_back({{job.spec, {}}});
  return study;
}

std::string setting_text(const Plan& plan, int32_t layers) {
  const RunSpec cold = base_of(plan, nullptr, layers, false), warm = base_of(plan, nullptr, layers, true);
  std::string text = fmt::format(
      "{} layers of width {}, {} heads, feed-forward {}; {} x {} symbols; Adam (beta {}, {}), rate {}, {} steps, "
      "warm-up {} or {}",
      layers, cold.model.d_model, cold.model.heads, cold.model.feed_forward, cold.train.batch,
      cold.model.sequence, get_field(cold, "train.beta1"), get_field(cold, "train.beta2"),
      get_field(cold, "train.lr"), cold.train.steps, cold.train.schedule.warmup, warm.train.schedule.warmup);
  text += fmt::format("; {} seed{}", plan.seeds, plan.seeds == 1 ? "" : "s");
  return text;
}

std::string setting_text(const Plan& plan, const System& system) {
  const RunSpec cold = base_of(plan, &system, 0, false), warm = base_of(plan, &system, 0, true);
  return fmt::format("preset {}{}, {}; batches of {}, rate {}, {} steps, warm-up {} or {}; {} seed{}",
                     system.preset, *system.set ? fmt::format(" with {}", system.set) : "", system.what,
                     cold.train.batch, get_field(cold, "train.lr"), cold.train.steps,
                     cold.train.schedule.warmup, warm.train.schedule.warmup, plan.seeds,
                     plan.seeds == 1 ? "" : "s");
}

}  // namespace normscope::zoo
