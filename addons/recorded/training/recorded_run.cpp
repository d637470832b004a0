
#include <algorithm>

#include "addons/recorded/training/log_reader.h"
#include "training/measure/verdict.h"
#include "training/run/checkpoint.h"

namespace normscope::records {
namespace {

/// 8 bytes of length, then a JSON object; a log begins with the object itself.
bool is_safetensors(InputFile& in) {
  char head[9] = {};
  if (in.size() < sizeof head) return false;
  in.read(head, sizeof head);
  in.go_to(0);
  return head[8] == '{' && head[0] != '{' && head[0] != ' ' && head[0] != '\n';
}

Recording saved_run(const std::string& path) {
  SeedRecord saved{read_checkpoint(SafetensorsFile::load(path))};
  RunSpec spec = saved.spec();
  Recording run;
  run.path = path;
  run.maker = "normscope";
  run.name = spec.name.empty() ? default_name(spec) : spec.name;
  for (auto& [key, value] : field_values(spec)) run.settings.emplace_back(key, value);
  run.placement = run.settings.empty() ? "" : find_field("model.placement")->get(spec);
  run.edits = saved.edits;
  for (const StatInfo& stat : saved.history->layout()) run.layers = std::max(run.layers, stat.layer);
  run.data = saved.data;
  run.origin = saved.origin;
  saved.said = to_string(verdict_of(*saved.history));
  saved.measured[kTokensPerStep] = units_of_step(spec);
  if (saved.history->layout().empty())
    run.missing.push_back(
        "gradient sizes and hidden states: this file does not name its numbers; resume the run and save it again");
  run.spec = std::move(spec);
  run.seeds.push_back(std::move(saved));
  return run;
}

}  // namespace

double SeedRecord::number(const std::string& name) const {
  const auto known = measured.find(name);
  return known == measured.end() ? NAN : known->second;
}

Message LinesRead::fault() const {
  const Message first = faults.empty() ? Message() : faults.front();
  if (broken == 0) return first;
  return Message("{} of {} lines cannot be read and are left out; {}", broken, lines, first);
}

bool is_saved_run(const std::string& path) {
  InputFile in(path, input::kLog);
  return path.ends_with(".safetensors") || is_safetensors(in);
}

RecordedFile read_recorded(const std::string& path, const std::string& mapping) {
  NameMapping names = mapping.empty() ? NameMapping{} : read_name_mapping(mapping);
  InputFile in(path, input::kLog);
  if (!path.ends_with(".safetensors") && !is_safetensors(in)) {
    LogReader reader(path, std::move(names));
    read_log(in, reader);
    return reader.file();
  }
  RecordedFile file;
  file.runs.push_back(saved_run(path));
  return file;
}

}  // namespace normscope::records
