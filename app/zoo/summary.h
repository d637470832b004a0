// From records to what is shown: per entry and depth two arms (without and with warm-up), each over its
// seeds; and the same as terminal table, JSON, CSV, Markdown and SVG. Every number in any of them comes from
// here. Called by app/commands/zoo.cpp and the tests.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/zoo/plan.h"
#include "app/zoo/record.h"
#include "app/zoo/table.h"

namespace normscope::zoo {

struct Arm {
  int32_t warmup = 0;
  std::vector<std::optional<Record>> runs;  ///< by seed
  int32_t known = 0;                        ///< runs there are
  int32_t count(Verdict verdict) const;
  int32_t since() const;        ///< median first step off the plateau of those that learn; 0: none does
  std::string verdict() const;  ///< "learns", "learns 2 of 3", "stuck", "–" without runs
  /// Of the finite ones, nats: mean, range and standard deviation (of a sample); NaN without.
  double mean = kUnknown, low = kUnknown, high = kUnknown, deviation = kUnknown;
  /// Geometric means over the seeds; zero where one of them is.
  double gradient = kUnknown, ratio = kUnknown;  ///< layer 1; layer 1 over the last one
};

struct Row {
  Entry entry;
  int32_t layers = 0;
  Arm arms[2];               ///< without, with warm-up
  double beta2 = kUnknown;   ///< mean over the seeds
  std::string beta2_reason;  ///< when there is none
  bool any() const { return arms[0].known + arms[1].known > 0; }
};

/// What became of a claim of the study.
struct Judged {
  Claim claim;
  enum class Result : uint8_t { Agrees, Differs, Partly, Unknown } result = Result::Unknown;
  std::string here;  ///< "learns 3 of 3, 0.914"
};

struct Summary {
  Plan plan;
  std::vector<Row> rows;    ///< by depth, then in the zoo's order
  double level = kUnknown;  ///< letter frequencies, nats
  bool complete = true;
  const Row* find(std::string_view entry, int32_t layers) const;
};
Summary summarise(const Plan& plan, const std::vector<Job>& jobs,
                  const std::vector<std::optional<Record>>& records);
/// Claims whose rows are there and that were made for this base setting (none where Plan::base changes it).
std::vector<Judged> judge(const Summary& summary);

std::string to_text(const Summary& summary);
nlohmann::json to_json(const Summary& summary);
std::string to_csv(const Summary& summary);  ///< a line a run
/// A page. `picture`: path of the SVG as seen from the page, empty: none. `command`: how the page was made.
std::string to_markdown(const Summary& summary, const std::string& picture, const std::string& command);
/// Light, and dark where the viewer prefers it.
std::string to_svg(const Summary& summary);

/// Helpers of the writers: "1.234", "–" for what is not finite.
std::string fixed(double value, int digits = 3);
std::string power(double value);           ///< "1.8e-04"
std::string verdict_text(const Arm& arm);  ///< "learns from 46", "stuck (1 seed)" of several
std::string loss_text(const Arm& arm);     ///< "0.914 ± 0.012", "–"

}  // namespace normscope::zoo
