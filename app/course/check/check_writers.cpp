#include "app/course/check/check_writers.h"

#include <fmt/format.h>

#include "app/course/report.h"
#include "app/plot/plot.h"
#include "app/ui/theme.h"
#include "training/experiments/table.h"
#include "training/io/number_json.h"

namespace normscope::course {
namespace {

using Json = nlohmann::json;

Json lesson_json(const LessonReport& report) {
  const Lesson& lesson = *report.lesson;
  Json json = {{"id", lesson.id},           {"claim", lesson.claim}, {"seeds", report.results.seeds},
               {"passed", report.passed()}, {"stale", report.stale}, {"measures", Json::object()},
               {"checks", Json::array()}};
  for (const Measure& m : lesson.measures)
    json["measures"][m.id] = to_json(m, report.results.measures.at(m.id));
  for (const Verdict& verdict : report.verdicts)
    json["checks"].push_back({{"measure", verdict.check->measure},
                              {"says", verdict.check->says},
                              {"band", band_text(*verdict.check)},
                              {"holds", verdict.holds}});
  return json;
}

}  // namespace

Json to_json(const Measure& measure, const Measured& measured) {
  return {{"label", measure.label},
          {"unit", measure.unit},
          {"averaged", to_string(measure.mean)},
          {"mean", number_json(measured.spread.mean)},
          {"low", number_json(measured.spread.low)},
          {"high", number_json(measured.spread.high)},
          {"values", list_json(measured.values)}};
}

Json to_json(const std::vector<LessonReport>& reports) {
  Json json = {{"format", "normscope lessons 1"}, {"lessons", Json::array()}};
  for (const LessonReport& report : reports) json["lessons"].push_back(lesson_json(report));
  return json;
}

std::string to_csv(const std::vector<LessonReport>& reports) {
  experiments::Table table{experiments::data_columns({"lesson", "measure", "unit", "seed", "value"})};
  for (const LessonReport& report : reports)
    for (const Measure& m : report.lesson->measures) {
      const std::vector<double>& values = report.results.measures.at(m.id).values;
      for (size_t i = 0; i < values.size(); ++i)
        table.rows.push_back({report.lesson->id, m.id, m.unit, i + 1, values[i]});
    }
  return experiments::to_csv(table);
}

std::string to_markdown(const std::vector<LessonReport>& reports, const std::string& command) {
  std::string out = fmt::format("# What the lessons claim, measured\n\nMade by `{}`.\n", command);
  for (const LessonReport& report : reports) {
    experiments::Table table{{{"", "claim"},
                              {"", "measured"},
                              {"", "value"},
                              {"", "range of seeds"},
                              {"", "must lie in"},
                              {"", "verdict"}}};
    for (const ClaimRow& row : claim_rows(*report.lesson, report.results))
      table.rows.push_back(
          {row.says, row.what, row.value, row.range, row.band, row.holds ? "holds" : "fails"});
    out += fmt::format("\n## {}. {}\n\n{}\n\n{}", report.lesson->number, report.lesson->title,
                       report.lesson->claim, experiments::to_markdown(table));
  }
  return out;
}

std::string to_svg(const LessonReport& report, const Figure& figure) {
  return kept_svg(*report.lesson, figure, report.results, ui::theme(false), {640, 400});
}

}  // namespace normscope::course
