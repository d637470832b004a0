#include "addons/papers/app/study/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "addons/papers/app/input_kinds.h"
#include "engine/core/error.h"
#include "training/files/places.h"
#include "training/io/nearest.h"
#include "training/io/toml_table.h"

namespace normscope::sweep {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostStudies = 1000;

StudyPart part_of(Table& table) {
  StudyPart part;
  part.name = table.text("name");
  if (part.name.empty() ||
      part.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != part.name.npos)
    table.refuse("name", fmt::format("'{}': expected small letters, digits and hyphens", part.name));
  part.title = table.text("title");
  const std::string metric = table.text("metric", "loss");
  part.measure = table.text("measure", "");
  if (!part.measure.empty() && !experiments::is_number_of_the_end(part.measure))
    table.refuse("measure",
                 fmt::format("'{}': expected critical_rate, largest_logit or the name of a number by layer, "
                             "such as L*.attn.out.mean_square",
                             part.measure));
  PlanText text;
  text.axes = table.texts("axes");
  if (table.has("set")) text.set = table.texts("set");
  text.seeds = table.whole("seeds", 1, 1000);
  text.steps = table.whole("steps", 0, 1'000'000, 0);
  try {
    part.metric = metric_from(metric);
    part.plan = plan_from(text);
    jobs_of(part.plan);
  } catch (const Error& error) {
    table.refuse("", error.what());
  }
  table.done();
  return part;
}

std::vector<std::string> sentences(Table& table, std::string_view key) {
  return table.has(key) ? table.texts(key) : std::vector<std::string>();
}

}  // namespace

std::string studies_folder() { return shipped_folder("studies", "NORMSCOPE_STUDIES"); }

std::vector<std::string> study_names(const std::string& folder) {
  std::vector<std::string> names;
  std::string error;
  for (const std::string& path : files_in(folder, kMostStudies, error))
    if (fs::path(path).extension() == ".toml") names.push_back(fs::path(path).stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

StudyFile parse_study(std::string_view text, const std::string& file) {
  const toml::table root = parse_toml(text, file);
  Table table(root, file, "");
  StudyFile study;
  study.file = file;
  study.name = fs::path(file).stem().string();
  study.title = table.text("title");
  study.question = table.text("question");
  study.sources = sentences(table, "sources");
  study.found = sentences(table, "found");
  for (Table& part : table.tables("part")) study.parts.push_back(part_of(part));
  table.done();
  if (study.parts.empty()) table.refuse("part", "is missing: expected one grid at least, [[part]]");
  return study;
}

StudyFile read_study(const std::string& folder, std::string_view name) {
  const std::vector<std::string> names = study_names(folder);
  if (std::find(names.begin(), names.end(), name) == names.end())
    fail("study", "{} is no study: {}", shown_text(name),
         expected(name, std::vector<std::string_view>(names.begin(), names.end())));
  const std::string path = (fs::path(folder) / (std::string(name) + ".toml")).string();
  return parse_study(read_input_file(path, input::kStudy), path);
}

StudyFile quick(StudyFile study) {
  for (StudyPart& part : study.parts) part.plan.seeds = 1;
  return study;
}

std::vector<Metric> StudyPart::metrics() const {
  return measure.empty() ? std::vector{metric} : std::vector{metric, Metric::Measured};
}

experiments::Study study_of(const StudyFile& study, const std::vector<Job>& jobs) {
  experiments::Study runs = study_of(jobs);
  for (const StudyPart& part : study.parts)
    if (!part.measure.empty()) runs.parts |= experiments::kLast;
  return runs;
}

std::vector<std::optional<Record>> records_of(const StudyFile& study, const experiments::Studied& studied) {
  std::vector<std::optional<Record>> records = studied.records();
  size_t run = 0;
  for (const StudyPart& part : study.parts)
    for (const size_t end = run + static_cast<size_t>(part.plan.runs()); run < end; ++run)
      if (records[run] && !part.measure.empty())
        records[run]->measured = experiments::largest(studied.runs[run]->last, part.measure);
  return records;
}

std::string picture_name(const StudyFile& study, const StudyPart& part, Metric metric) {
  return fmt::format("{}-{}{}.svg", study.name, part.name, metric == Metric::Measured ? "-measured" : "");
}

std::vector<Job> jobs_of(const StudyFile& study) {
  std::vector<Job> all;
  for (const StudyPart& part : study.parts) std::ranges::move(jobs_of(part.plan), std::back_inserter(all));
  return all;
}

std::vector<Grid> grids_of(const StudyFile& study, const std::vector<Job>& jobs,
                           const std::vector<std::optional<Record>>& records) {
  std::vector<Grid> grids;
  std::ptrdiff_t first = 0;
  for (const StudyPart& part : study.parts) {
    const auto count = static_cast<std::ptrdiff_t>(part.plan.runs());
    const std::vector<Job> of_part(jobs.begin() + first, jobs.begin() + first + count);
    grids.push_back(grid_of(
        part.plan, of_part,
        std::vector<std::optional<Record>>(records.begin() + first, records.begin() + first + count),
        is_predicted(part.metric) ? predictions_of(part.plan, of_part) : std::vector<theory::AtStart>{}));
    grids.back().measure = part.measure;
    first += count;
  }
  return grids;
}

std::string to_text(const StudyFile& study, const std::vector<Grid>& grids) {
  std::string out = fmt::format("{}\n{}\n", study.title, study.question);
  for (size_t i = 0; i < grids.size(); ++i)
    for (const Metric metric : study.parts[i].metrics())
      out += fmt::format("\n{}\n{}", study.parts[i].title, to_text(grids[i], metric));
  return out;
}

nlohmann::json to_json(const StudyFile& study, const std::vector<Grid>& grids) {
  nlohmann::json parts = nlohmann::json::array();
  for (size_t i = 0; i < grids.size(); ++i)
    parts.push_back(
        {{"name", study.parts[i].name}, {"title", study.parts[i].title}, {"sweep", to_json(grids[i])}});
  return {{"format", "normscope study 1"}, {"study", study.name}, {"title", study.title}, {"parts", parts}};
}

std::string to_csv(const StudyFile& study, const std::vector<Grid>& grids) {
  std::string out;
  for (size_t i = 0; i < grids.size(); ++i)
    out += fmt::format("{}# {}\n{}", i > 0 ? "\n" : "", study.parts[i].name, to_csv(grids[i]));
  return out;
}

std::string to_markdown(const StudyFile& study, const std::vector<Grid>& grids, bool with_pictures,
                        const std::string& command) {
  std::string out = fmt::format("# {}\n\n{}\n\nMade by `{}`", study.title, study.question, command);
  if (with_pictures)
    out += fmt::format(
        ", whose numbers stand in the pictures and, seed by seed, in `{}.json` beside this page", study.name);
  out += ".\n";
  if (!study.found.empty()) out += "\n## What the full run has shown\n\n";
  for (const std::string& sentence : study.found) out += fmt::format("- {}\n", sentence);
  for (size_t i = 0; i < grids.size(); ++i) {
    const StudyPart& part = study.parts[i];
    out += fmt::format("\n## {}\n\n{}.\n", part.title, setting_text(grids[i]));
    for (const Metric metric : part.metrics()) {
      if (metric == Metric::Measured) out += fmt::format("\n{}.\n", title_of(grids[i], metric));
      out += with_pictures ? picture_text(grids[i], metric, picture_name(study, part, metric))
                           : section_text(grids[i], metric, "");
    }
  }
  if (!study.sources.empty()) out += "\n## Sources\n\n";
  for (const std::string& source : study.sources) out += fmt::format("- {}\n", source);
  return out;
}

}  // namespace normscope::sweep
