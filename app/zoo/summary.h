// From records to what is shown: per entry and depth two arms (without and with warm-up), each over its
// seeds; and the same as terminal table, JSON, CSV, Markdown and SVG. Every number in any of them comes from
// here. Called by app/commands/zoo.cpp and the tests.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/zoo/plan.h"
#include "app/zoo/table.h"
#include "training/experiments/over_seeds.h"

namespace normscope::zoo {

using experiments::power;
using experiments::Record, experiments::Verdict, experiments::kUnknown;

struct Arm : experiments::OverSeeds {
  int32_t warmup = 0;
};

struct Row {
  Entry entry;
  int32_t layers = 0;        ///< 0: of another system
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
  std::string unit{};  ///< what a symbol is of the data that `level` is of: "letter"
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
/// Whether to_svg has something to draw: it shows losses of letters, which the other systems do not guess.
bool has_picture(const Plan& plan);
/// Light, and dark where the viewer prefers it.
std::string to_svg(const Summary& summary);

}  // namespace normscope::zoo
