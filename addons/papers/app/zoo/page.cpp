// The page of the zoo is Markdown; every number and verdict comes from the summary (summary.h).
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "addons/papers/app/zoo/summary.h"
#include "training/data/data_identity.h"
#include "training/io/text_table.h"

namespace normscope::zoo {
namespace {

using experiments::Column, experiments::Kind, experiments::Table, experiments::TableRow;

std::string set_text(const Entry& entry) {
  std::string text;
  if (const System* system = system_of(entry.group)) text = fmt::format("preset `{}`", system->preset);
  for (const std::string& assignment : entry.set)
    text += fmt::format("{}`{}`", text.empty() ? "" : " ", assignment);
  return text;
}

std::string verdict_cell(const Arm& arm) {
  const std::string verdict = verdict_text(arm);
  return arm.count(Verdict::Learns) > 0 ? "**" + verdict + "**" : verdict;
}

/// Has the entry and its title, Σβ² where `score` is empty, then verdict, loss, score and gradient of each
/// arm.
std::vector<Column> columns_of(const Row& row, const std::string& score, const char* gradient) {
  std::vector<Column> columns{{"", ""}, {"", ""}};
  if (score.empty()) columns.push_back({"", "Σβ²", Kind::Number});
  for (const Arm& arm : row.arms) {
    columns.push_back({"", &arm == &row.arms[0] ? "no warm-up" : fmt::format("warm-up {}", arm.warmup)});
    columns.push_back({"", "loss", Kind::Number});
    if (!score.empty()) columns.push_back({"", score, Kind::Number});
    columns.push_back({"", gradient, Kind::Number});
  }
  return columns;
}

TableRow cells_of_page(const Row& row, bool scored) {
  TableRow cells{"`" + row.entry.name + "`", row.entry.title};
  if (!scored) cells.emplace_back(fixed(row.beta2, 2));
  for (const Arm& arm : row.arms) {
    cells.emplace_back(verdict_cell(arm));
    cells.emplace_back(loss_text(arm));
    if (scored) cells.emplace_back(score_text(arm));
    cells.emplace_back(power(arm.gradient));
  }
  return cells;
}

std::string table_of(const Summary& summary, int32_t layers, Group group) {
  Table table;
  for (const Row& row : summary.rows) {
    if (row.layers != layers || row.entry.group != group) continue;
    if (table.rows.empty()) table.columns = columns_of(row, "", "‖∂W₂‖ layer 1");
    table.rows.push_back(cells_of_page(row, false));
  }
  if (table.rows.empty()) return "";
  return fmt::format("\n### {}\n\n{}", title(group), experiments::to_markdown(table));
}

std::string table_of(const Summary& summary, const System& system) {
  Table table;
  for (const Row& row : summary.rows) {
    if (row.entry.group != system.group) continue;
    if (table.rows.empty()) table.columns = columns_of(row, system.score, "‖∂W‖ layer 1");
    table.rows.push_back(cells_of_page(row, true));
  }
  if (table.rows.empty()) return "";
  return fmt::format("\n## {}\n\n{}.\n\n{}", title(system.group), setting_text(summary.plan, system),
                     experiments::to_markdown(table));
}

const char* expectation(const Expected& claim) {
  switch (claim.expect) {
    case Expected::Expect::Learns:
      return "learns";
    case Expected::Expect::Stuck:
      return "does not learn";
    case Expected::Expect::Partly:
      return "learns late or in some seeds";
    case Expected::Expect::AsGoodAs:
      return "is as good as";
    case Expected::Expect::WorseThan:
      return "is worse than";
  }
  return "";
}

const char* result_text(Judged::Result result) {
  constexpr const char* texts[] = {"agrees", "**differs**", "**in part**", "not comparable"};
  return texts[static_cast<size_t>(result)];
}

/// Where this page and the study disagree, with the setting of each.
std::string differences(const Summary& summary, const std::vector<Judged>& all) {
  std::string out;
  for (const Judged& j : all) {
    if (j.result != Judged::Result::Differs && j.result != Judged::Result::Partly) continue;
    const Row* row = summary.find(j.claim.entry, j.claim.layers);
    out += fmt::format("- {} ({}; {} layers, warm-up {}): the study saw that it {}{} ({}); here {}.\n",
                       row->entry.title, set_text(row->entry), row->layers, row->arms[j.claim.warmup].warmup,
                       expectation(j.claim), *j.claim.other ? fmt::format(" `{}`", j.claim.other) : "",
                       j.claim.study, j.here);
  }
  return out.empty()
             ? out
             : "\nThe differences. Text and sequence length differ; which of the two is the cause was not "
               "measured.\n\n" +
                   out;
}

std::string study_table(const Summary& summary) {
  const std::vector<Judged> judged = judge(summary);
  if (judged.empty()) return "";
  int32_t agree = 0;
  std::string rows;
  for (const Judged& j : judged) {
    agree += j.result == Judged::Result::Agrees;
    const Row* row = summary.find(j.claim.entry, j.claim.layers);
    rows += fmt::format("| {} | `{}` | {} | {}{} | {} | {} | {} |\n", j.claim.layers, j.claim.entry,
                        row->arms[j.claim.warmup].warmup, expectation(j.claim),
                        *j.claim.other ? fmt::format(" `{}`", j.claim.other) : "", j.claim.study, j.here,
                        result_text(j.result));
  }
  return fmt::format(
      "\n## Beside an earlier study\n\nAn independent implementation of the same questions in PyTorch, on "
      "licence texts (letter frequencies 3.29 nats, batches of 16 x 32 symbols, two to five seeds) where "
      "this page uses the built-in corpus (letter frequencies {} nats, batches of 16 x 64). Rates and "
      "budgets are this page's unless the cell says otherwise; losses differ with the text, verdicts may. {} "
      "of {} agree.\n\n"
      "| layers | entry | warm-up | the study found | its loss | here | |\n|--:|--|--:|--|--|--|--|\n{}{}",
      fixed(summary.level, 2), agree, judged.size(), rows, differences(summary, judged));
}

std::string sources_table(const Summary& summary) {
  std::string out = "\n## What each entry is\n\n| | source | changes on the default model |\n|--|--|--|\n";
  std::set<std::string> named;  // each entry occurs once per depth
  for (const Row& row : summary.rows) {
    if (!named.insert(row.entry.name).second) continue;
    out += fmt::format("| `{}` | {} | {} |\n", row.entry.name, row.entry.source, set_text(row.entry));
  }
  return out;
}

std::string undefined_shares(const Summary& summary) {
  std::string out;
  std::set<std::string> named;
  for (const Row& row : summary.rows) {
    if (row.beta2_reason.empty() || row.layers == 0 || !named.insert(row.entry.name).second) continue;
    out += fmt::format("- `{}`: {}\n", row.entry.name, row.beta2_reason);
  }
  return out.empty() ? out : "\nWhere Σβ² has no number:\n\n" + out;
}

/// What the page shows: the whole zoo, or what was chosen of it.
std::string what_is_here(const std::vector<Entry>& shown) {
  const bool other = std::ranges::any_of(shown, [](const Entry& e) { return system_of(e.group) != nullptr; });
  const auto is_shown = [&](const Entry& e) {
    return std::ranges::any_of(shown, [&](const Entry& s) { return s.name == e.name; });
  };
  if (std::ranges::all_of(entries(), is_shown))
    return "Every placement, norm kind, initialisation and optimizer of the engine on one model, and the norm kinds on "
           "three other systems of Xu et al. (2019)";
  const std::string_view systems =
      other ? ", those of other systems of Xu et al. (2019) on a model of their own" : "";
  return fmt::format("{} of the zoo's entries on one model{}", shown.size(), systems);
}

}  // namespace

std::string to_markdown(const Summary& summary, const std::string& picture, const std::string& command) {
  std::string out = fmt::format(
      "# The zoo\n\n"
      "{}, with and without warm-up, over the same seeds, batches and initial weights. Written by the program, not by hand:\n\n"
      "```\n{}\n```\n\n"
      "**learns**: the mean loss of 20 steps fell 0.1 nats below the line of {}, the loss of a model "
      "that knows these only, {} {} here, and stayed there, **from** that step on (median of the "
      "seeds that learn). **stuck**: it has not, 150 steps or the whole warm-up after the start. **diverges**: "
      "finite, and worse than guessing. loss: mean training loss of the last {} steps, ± standard deviation over "
      "the seeds. Σβ²: sum over the sub-layers of the share β²ᵢᵢ of their own branch in their output at "
      "initialisation (Liu et al. 2020, Theorem 2: the larger, the more a change of the weights changes the "
      "output). ‖∂W₂‖ layer 1: norm of the gradient that reaches the first layer's W₂ at step {}. In the "
      "other systems the line is that of the frequencies of what they choose from; accuracy, UAS (unlabelled attachment) and "
      "bits are those of the validation at the end.\n",
      what_is_here(summary.plan.entries), command, frequencies_of(summary.unit), fixed(summary.level),
      nats_per(summary.unit), Record::kWindow, Record::kGradientStep);
  if (!picture.empty())
    out += fmt::format("\n![Final loss of every entry, without and with warm-up]({})\n", picture);
  if (!summary.complete)
    out +=
        "\nNot every run of this page has been trained: what has fewer seeds than the others says how many, and "
        "the command above trains the rest.\n";
  for (const int32_t layers : summary.plan.depths) {
    std::string tables;
    for (const Group group : kGroups) tables += table_of(summary, layers, group);
    if (!tables.empty())
      out += fmt::format("\n## {} layers\n\n{}.\n{}", layers, setting_text(summary.plan, layers), tables);
  }
  for (const System& system : systems()) out += table_of(summary, system);
  if (summary.rows.empty()) return out;
  out += undefined_shares(summary) + study_table(summary) + sources_table(summary);
  out +=
      "\nTo add an entry, add one row to `app/zoo/table.cpp`, name and what it changes as KEY=VALUE, and its "
      "title and source to `assets/words/zoo.toml`. Placements, norm kinds, initialisations and optimizers of "
      "the engine's own lists appear by themselves.\n";
  return out;
}

}  // namespace normscope::zoo
