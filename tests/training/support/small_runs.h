// The small runs finish in milliseconds; this file also says what "the same bits" means for two of them. The tests of
// Run, checkpoint and Lab use it.
#pragma once

#include <algorithm>

#include "engine/support/helpers.h"
#include "engine/support/model_fixture.h"
#include "folder.h"
#include "training/data/task.h"
#include "training/measure/step/step_player.h"
#include "training/run/critical_rate.h"
#include "training/run/run.h"
#include "training/session/analysis.h"
#include "training/support/tiny.h"

namespace normscope::test {

inline RunSpec small_spec(const std::string& preset = "post", uint64_t seed = 1) {
  RunSpec spec = tiny_spec(preset, 60);
  if (spec.train.schedule.warmup > 0) spec.train.schedule.warmup = 10;
  spec.seed = seed;
  return spec;
}

/// A small run with these fields set.
inline RunSpec spec_with(const std::string& preset,
                         const std::vector<std::pair<std::string, std::string>>& fields) {
  RunSpec spec = small_spec(preset);
  for (const auto& [key, value] : fields) set_field(spec, key, value);
  return spec;
}

inline std::shared_ptr<const Task> small_task(const DataSpec& data = small_spec().data) {
  static std::vector<std::pair<DataSpec, std::shared_ptr<const Task>>> known;
  for (const auto& [spec, task] : known)
    if (spec == data) return task;
  known.emplace_back(data, make_task(data));
  return known.back().second;
}

/// Two threads under the thread sanitizer, for it to watch. Elsewhere it has one: two tests run at
/// a time, and a pool that waits for a core of another takes longer than both steps. The bits are the same.
inline Backend& shared_backend() {
#ifdef __SANITIZE_THREAD__
  constexpr int kThreads = 2;
#else
  constexpr int kThreads = 1;
#endif
  static const std::unique_ptr<Backend> backend = make_cpu_backend(kThreads);
  return *backend;
}

inline void steps(Run& run, int32_t count) {
  for (int32_t i = 0; i < count; ++i) run.step();
}

/// A run after so many steps.
inline std::unique_ptr<Run> make_run(const RunSpec& spec, int32_t count = 0) {
  auto run = std::make_unique<Run>(spec, small_task(spec.data), shared_backend());
  steps(*run, count);
  return run;
}

/// The run that `of` would have been at a step, trained there without a fork or a look back: with the edits made so
/// far.
inline std::unique_ptr<Run> trained_straight(const RunSpec& spec, const Run& of, int32_t step) {
  auto run = make_run(spec);
  std::vector<Edit> edits;
  for (const Edit& edit : of.edits())
    if (edit.step <= step) edits.push_back(edit);
  run->schedule_edits(edits);
  steps(*run, step);
  return run;
}

/// The run that a checkpoint of this one becomes.
inline std::unique_ptr<Run> reloaded(const Run& run) {
  const Folder folder;
  run.save(folder.file("run.safetensors"));
  return Run::load(folder.file("run.safetensors"), small_task(run.spec().data), shared_backend());
}

/// The length of a - b as a part of that of b.
inline double relative_difference(std::span<const float> a, std::span<const float> b) {
  REQUIRE(a.size() == b.size());
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    size += std::pow(static_cast<double>(b[i]), 2);
  }
  return difference == 0 ? 0 : std::sqrt(difference / size);
}

inline const MatrixSpectra& matrix_of(const std::vector<MatrixSpectra>& all, const std::string& name) {
  const auto at = std::ranges::find(all, name, &MatrixSpectra::name);
  REQUIRE(at != all.end());
  return *at;
}

inline std::vector<float> losses(const Run& run) { return run.history()->loss().values; }

/// The critical rate that was measured last.
inline double critical_of(const Run& run) {
  const History& history = *run.history();
  return static_cast<double>(history.series(history.find(kCriticalStat)).values.back());
}

/// The widest that bisection leaves around the critical rate: 16 octaves in 62 parts.
inline const double kBracket = std::exp2(16.0 / 62);

/// The name of the first parameter whose value or moment differs in any bit, "" when all are the same.
inline std::string first_difference(const Store& a, const Store& b) {
  if (a.parameters().size() != b.parameters().size()) return "(number of parameters)";
  for (const ParameterInfo& info : a.parameters()) {
    const int32_t i = a.find(info.name), j = b.find(info.name);
    if (j < 0) return info.name;
    for (Store::Block block : {Store::Block::Value, Store::Block::M, Store::Block::V})
      if (!same_bits(a.read(i, block), b.read(j, block))) return info.name;
  }
  return "";
}

// A safetensors file in memory, for tests of its reader.

inline std::string with_header(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

// A tiny model and a player of its next step.

struct StepPlayback {
  explicit StepPlayback(const TinyOptions& options, uint32_t step = 1)
      : tiny(options),
        player(
            tiny.store->clone(), [this](Tape& tape) { return tiny.record(tape).loss; },
            {.update = update_op(options.optimizer), .clip = options.clip}, tiny.inputs(step)) {
    tiny.fill(step);
    for (const char* name : {"tokens", "targets"})
      std::ranges::copy(tiny.program->tokens(name), player.program().tokens(name).begin());
  }
  Tiny tiny;
  StepPlayer player;
};

}  // namespace normscope::test
