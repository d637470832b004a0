#include "app/cli/specs.h"

#include "app/cli/exit_code.h"
#include "training/files/command_text.h"
#include "training/io/output_file.h"

namespace normscope::cli {

std::vector<ConfigRun> runs_of(const std::string& config) {
  if (!config.empty()) return with_exit(Exit::Usage, [&] { return read_config(config); });
  std::vector<ConfigRun> runs;
  char letter = 'A';
  for (RunSpec& spec : default_comparison()) runs.push_back({letter++, std::move(spec), {}});
  return runs;
}

void apply_arguments(std::vector<ConfigRun>& runs, const std::vector<std::string>& presets,
                     const std::vector<std::string>& sets, const std::vector<std::string>& edits) {
  with_exit(Exit::Usage, [&] {
    if (!presets.empty()) runs = runs_from(presets);
    for (const std::string& set : sets) apply_set(runs, set);
    for (const std::string& edit : edits) apply_edit(runs, edit);
    require_read(runs, sets);
    for (ConfigRun& run : runs) run.edits = portable_edits(run.spec, std::move(run.edits));
  });
}

void override_runs(std::vector<ConfigRun>& runs, const std::string& text, int32_t steps, int64_t seed) {
  with_exit(Exit::Usage, [&] {
    for (ConfigRun& run : runs) {
      if (!text.empty()) {
        set_field(run.spec, "data.name", "text");
        set_field(run.spec, "data.text", text);
      }
      if (steps > 0) set_field(run.spec, "train.steps", std::to_string(steps));
      if (seed >= 0) set_field(run.spec, "run.seed", std::to_string(seed));
      run.spec.data.context = run.spec.model.sequence;
      validate(run.spec);
    }
  });
}

link::LinkedView link_of(const std::string& link, const std::string& text,
                         const std::vector<std::string>& sets, const std::vector<std::string>& edits) {
  return with_exit(Exit::Usage, [&] {
    link::LinkedView view = link::read_link(link);
    apply_arguments(view.runs, {}, sets, edits);
    if (!text.empty()) override_runs(view.runs, text, 0, -1);
    link::require_needed(view, view.runs);
    override_runs(view.runs, "", 0, -1);
    return view;
  });
}

MainRuns main_runs(const MainOptions& options) {
  MainRuns out;
  if (options.link.empty()) {
    out.runs = runs_of(options.config);
    apply_arguments(out.runs, options.runs, options.set, options.edits);
  } else {
    out.link = link_of(options.link, options.text, options.set, options.edits);
    out.runs = out.link->runs;
  }
  override_runs(out.runs, options.text, options.steps, -1);
  return out;
}

std::shared_ptr<const Task> task_of(const RunSpec& spec) {
  return with_exit(Exit::Input, [&] { return make_task(spec.data); });
}

std::vector<NamedFile> files_of(const RunSpec& spec) {
  std::vector<NamedFile> files;
  for (const Field* file : file_fields()) files.push_back({std::string(file->key), file->get(spec)});
  return files;
}

void refuse_clashes(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    if (output.path.empty()) continue;
    const auto clash = [&](const NamedFile& other) {
      return !other.path.empty() && same_file(output.path, other.path);
    };
    for (const NamedFile& input : inputs)
      if (clash(input))
        throw CommandError(Exit::Usage, fmt::format("{} {}: {} reads this file: expected another name",
                                                    output.option, output.path, input.option));
    for (size_t j = 0; j < i; ++j)
      if (clash(outputs[j]))
        throw CommandError(Exit::Usage, fmt::format("{} {}: {} writes this file: expected another name",
                                                    output.option, output.path, outputs[j].option));
  }
}

void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  refuse_clashes(outputs, inputs);
  for (const NamedFile& output : outputs)
    if (!output.path.empty()) with_exit(Exit::Internal, [&] { AtomicFile(output.path, output.option); });
}

}  // namespace normscope::cli
