// The summary turns records into what is shown: per entry and depth two arms (without and with warm-up), each over its
// seeds. Terminal table, JSON, CSV, Markdown and SVG take every number from it. app/commands/zoo.cpp and the tests call
// it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "addons/papers/app/zoo/plan.h"
#include "addons/papers/app/zoo/table.h"
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

/// A claim of the study with its verdict here.
struct Judged {
  Expected claim;
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
/// Covers the claims whose rows are in the summary and that were made for this base setting. It returns none
/// where Plan::base changes the setting.
std::vector<Judged> judge(const Summary& summary);

std::string to_text(const Summary& summary);
nlohmann::json to_json(const Summary& summary);
std::string to_csv(const Summary& summary);  ///< one line per run
/// Writes a page. `picture` is the path of the SVG as seen from the page, or empty for none; `command`
/// says how the page was made.
std::string to_markdown(const Summary& summary, const std::string& picture, const std::string& command);
/// Whether to_svg has something to draw: it shows losses of letters, and other systems do not
/// predict letters.
bool has_picture(const Plan& plan);
/// Draws in light colours, and in dark ones where the viewer prefers them.
std::string to_svg(const Summary& summary);

}  // namespace normscope::zoo
