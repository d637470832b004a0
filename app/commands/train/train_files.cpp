// normscope train writes, beside its log, states and the learned pieces of texts.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "app/cli/specs.h"
#include "app/commands/train/train.h"
#include "training/data/task.h"
#include "training/files/places.h"
#include "training/io/output_file.h"

namespace normscope::commands {
using namespace cli;
namespace {

std::string beside_save(const TrainOptions& options) {
  return options.save.empty() ? "" : options.save + ".bpe.model";
}

/// Lets learned pieces be written where the command line says so, with --save or --set
/// data.tokenizer: a configuration that was opened only names what is read.
bool may_write_tokenizer(const TrainOptions& options, const std::string& path) {
  const auto names_it = [&](const std::string& set) { return set.ends_with("data.tokenizer=" + path); };
  return !path.empty() && (path == beside_save(options) || std::ranges::any_of(options.set, names_it));
}

/// Turns "runs.safetensors" into "runs-A.safetensors" where several runs are saved.
std::string save_path(const std::string& path, const std::string& part) {
  const size_t dot = path.rfind('.');
  const size_t slash = last_separator(path);
  if (dot == path.npos || (slash != path.npos && dot < slash)) return path + "-" + part;
  return fmt::format("{}-{}{}", path.substr(0, dot), part, path.substr(dot));
}
std::string save_path(const std::string& path, char letter, size_t runs) {
  return runs == 1 ? path : save_path(path, std::string(1, letter));
}

}  // namespace

void place_tokenizer(const TrainOptions& options, RunSpec& spec) {
  const std::string& path = spec.data.tokenizer_path;
  std::error_code error;
  if (!kind_of(spec.data).learns_tokenizer || options.save.empty() || may_write_tokenizer(options, path))
    return;
  if (path.empty() || !std::filesystem::exists(path, error))
    set_field(spec, "data.tokenizer", beside_save(options));
}

void save_between(const TrainOptions& options, const Job& job, size_t runs) {
  const int32_t step = job.run->steps_done();
  if (options.save.empty() || options.save_every == 0 || step % options.save_every != 0) return;
  const std::string path = save_path(options.save, job.letter, runs);
  job.run->save(path);
  if (options.keep == 0) return;
  const auto kept = [&](int32_t at) {
    std::string name = save_path(path, fmt::format("{:06}", at));
    const std::string& input = job.run->spec().train.init_from;
    if (!input.empty() && same_file(name, input))
      throw CommandError(Exit::Usage, fmt::format("--keep: train.init_from reads {}, which stays", name));
    return name;
  };
  job.run->save(kept(step));
  if (step > options.keep * options.save_every)
    std::remove(kept(step - options.keep * options.save_every).c_str());
}

void check_files(const TrainOptions& options, const std::vector<RunPlan>& planned) {
  std::vector<NamedFile> inputs = {{"--config", options.config}}, outputs;
  with_exit(Exit::Internal, [&] {
    make_folder(std::filesystem::path(options.log).parent_path().string(), Access::Shared, "--log");
  });
  for (const RunPlan& p : planned) {
    for (const NamedFile& file : files_of(p.config.spec))
      if (!may_write_tokenizer(options, file.path)) inputs.push_back(file);
    if (!options.save.empty())
      outputs.push_back({"--save", save_path(options.save, p.config.letter, planned.size())});
  }
  std::vector<NamedFile> log_inputs = inputs;
  log_inputs.push_back({"--resume", options.resume});
  check_outputs({{"--log", options.log}}, log_inputs);
  outputs.push_back({"--log", options.log});
  check_outputs(outputs, inputs);
}

void write_tokenizers(const TrainOptions& options, const std::vector<RunPlan>& planned) {
  for (const RunPlan& p : planned) {
    const DataSpec& data = p.config.spec.data;
    const std::string& path = data.tokenizer_path;
    std::error_code error;
    if (kind_of(data).learns_tokenizer && may_write_tokenizer(options, path) &&
        !std::filesystem::exists(path, error))
      with_exit(Exit::Internal, [&] { p.task->save_tokenizer(path); });
  }
}

void save_all(const TrainOptions& options, const std::vector<Job>& jobs, Closing& closing) {
  if (options.save.empty()) return;
  for (const Job& job : jobs)
    closing.attempt([&] {
      const std::string path = save_path(options.save, job.letter, jobs.size());
      job.run->save(path);
      say("saved {} at step {}\n", path, job.run->steps_done());
    });
}

}  // namespace normscope::commands
