// normscope reproduce trains and judges figures, tables and theorems of the papers. It can be resumed and shared out
// over machines: finished runs are kept.
#include <algorithm>
#include <filesystem>

#include "addons/papers/app/reproduce/claim_runs.h"
#include "addons/translation/training/tokenizer.h"
#include "app/cli/study.h"
#include "app/commands/commands.h"
#include "training/files/command_text.h"
#include "training/files/places.h"
#include "training/io/text.h"

namespace normscope::commands {
using namespace cli;
namespace {

using reproduce::Claim, reproduce::Claims;

struct ReproduceOptions {
  std::vector<std::string> ids{"list"};  ///< claims, papers, "all" or "list"
  std::string folder;                    ///< of the claims; empty: the program's
  std::string pairs;                     ///< the folder of the sentence pairs; empty: that in the user's data
  bool quick = false;
  int32_t seeds = 0;     ///< 0: as each claim says
  std::string recorded;  ///< numbers that were measured before; empty: none
  StudyOptions study{};
};

/// Empty where claims on sentence pairs use the made-up translation, as with --quick unless --pairs names their
/// folder.
std::string pairs_folder(const ReproduceOptions& options) {
  if (!options.pairs.empty()) return options.pairs;
  const std::string data = data_folder();
  return options.quick || data.empty() || !tokenizer_unavailable().empty() ? "" : data + "/pairs";
}

Claims claims_of(const ReproduceOptions& options) {
  Claims all = reproduce::read_claims(options.folder.empty() ? reproduce::claims_folder() : options.folder,
                                      pairs_folder(options));
  if (all.claims.empty())
    throw CommandError(Exit::Input,
                       all.broken.empty() ? "reproduce: there is no claim" : all.broken.front().error);
  for (const reproduce::BrokenClaim& broken : all.broken) complain(broken.error);
  return all;
}

/// Whether the claim is named, by its id or by its folder "xiong-2020".
bool is_asked(const Claim& claim, const std::string& name) {
  return claim.id == name || std::filesystem::path(claim.file).parent_path().filename() == name;
}

/// Says what an unknown name may mean: the claims and folders that begin with it, else the nearest.
std::string meant_by(const Claims& all, const std::string& id) {
  std::set<std::string> known;
  for (const Claim& claim : all.claims)
    known.insert({claim.id, std::filesystem::path(claim.file).parent_path().filename().string()});
  std::vector<std::string> meant;
  for (const std::string& name : known)
    if (name.starts_with(id)) meant.push_back(name);
  if (const std::vector<std::string_view> names(known.begin(), known.end()); meant.empty())
    if (const std::string_view near = likely(id, names); !near.empty()) meant.emplace_back(near);
  return meant.empty() ? "" : fmt::format("did you mean {}? ", one_of(meant));
}

std::vector<const Claim*> chosen_claims(const Claims& all, const std::vector<std::string>& ids) {
  std::vector<const Claim*> chosen;
  for (const Claim& claim : all.claims)
    for (const std::string& id : ids)
      if (id == "all" || id == "list" || is_asked(claim, id)) {
        chosen.push_back(&claim);
        break;
      }
  for (const std::string& id : ids) {
    if (id == "all" || id == "list") continue;
    if (std::ranges::none_of(all.claims, [&](const Claim& claim) { return is_asked(claim, id); }))
      throw CommandError(
          Exit::Usage,
          fmt::format("reproduce: '{}' is no claim and no folder of claims: {}expected all or names of "
                      "`normscope reproduce list`",
                      id, meant_by(all, id)));
  }
  return chosen;
}

/// The command that trains the same claims.
std::string reproduce_command_of(const ReproduceOptions& options, std::string_view between) {
  std::string line = "normscope reproduce";
  for (const std::string& id : options.ids) line += " " + shell_quoted(id);
  if (options.quick) line.append(between).append("--quick");
  add_option_text(line, between, "--claims", options.folder);
  add_option_text(line, between, "--pairs", options.pairs);
  if (options.seeds > 0) line.append(between).append(fmt::format("--seeds {}", options.seeds));
  return line + backend_line(options.study.backend, between);
}

std::string recorded_text(const ReproduceOptions& options) {
  std::string line;
  add_option_text(line, " ", "--recorded", options.recorded);
  return line;
}

/// The command for a page that others read, without options that only name files of this machine.
std::string page_line(ReproduceOptions options) {
  if (!options.pairs.empty()) options.pairs = options.quick ? "DIR" : "";
  options.folder.clear();
  if (!std::filesystem::path(options.recorded).is_relative()) options.recorded.clear();
  return reproduce_command_of(options, " ") + recorded_text(options);
}

std::string picture_path(const ReproduceOptions& options, const Claim& claim) {
  return options.study.out.empty() ? "" : options.study.out + "/" + claim.id + ".svg";
}

std::vector<NamedFile> inputs_of(const std::vector<const Claim*>& claims) {
  std::vector<NamedFile> inputs;
  for (const Claim* claim : claims) {
    inputs.push_back({"a claim", claim->file});
    for (const course::LessonRun& run : claim->language.runs)
      for (NamedFile& file : files_of(run.spec)) inputs.push_back(std::move(file));
  }
  return inputs;
}

/// The data of a claim's runs and fresh models.
std::vector<DataSpec> data_of(const Claim& claim) {
  std::vector<DataSpec> data;
  for (const experiments::StudyRun& run : reproduce::runs_of(claim, 1)) data.push_back(run.spec.data);
  for (const reproduce::Line& line : claim.lines)
    if (line.of == reproduce::Line::Of::Fresh)
      data.push_back(course::spec_of(claim.language, line.runs[0], 1).data);
  return data;
}

/// Refuses, before anything is trained, sentence pairs that are missing or too few for the pieces.
void check_pairs(const ReproduceOptions& options, const std::vector<const Claim*>& claims) {
  std::string missing;
  std::vector<DataSpec> different;
  for (const Claim* claim : claims) {
    if (!claim->missing.empty()) missing = claim->missing;
    for (DataSpec& data : data_of(*claim))
      if (data.name == "pairs" && std::ranges::find(different, data) == different.end())
        different.push_back(std::move(data));
  }
  const std::string without = tokenizer_unavailable();
  if (!different.empty() && !without.empty()) throw CommandError(Exit::Input, "--pairs: " + without);
  for (const DataSpec& data : different) with_exit(Exit::Input, [&] { make_task(data); });
  if (missing.empty() || (options.quick && options.pairs.empty())) return;
  if (!options.pairs.empty())
    throw CommandError(
        Exit::Input,
        fmt::format("--pairs: {} is missing: expected what addons/translation/debian_pairs.py makes",
                    missing));
  complain(Message(
      "{}; claims on sentence pairs take the made-up translation",
      without.empty() ? missing + " is missing (addons/translation/debian_pairs.py makes it)" : without));
}

/// Judges claims from the file of numbers where their definition is unchanged; returns the others, in order.
std::vector<const Claim*> without_recorded(const std::vector<const Claim*>& claims,
                                           const reproduce::Seeds& seeds,
                                           const reproduce::RecordedClaims& recorded,
                                           std::map<const Claim*, reproduce::Outcome>& outcomes) {
  std::vector<const Claim*> rest;
  for (const Claim* claim : claims)
    if (auto outcome = reproduce::judge_recorded(*claim, seeds.of(*claim), recorded))
      outcomes.emplace(claim, *std::move(outcome));
    else
      rest.push_back(claim);
  return rest;
}

/// Adds what was measured now to the file of numbers, where the file has no better ones.
void write_recorded(const ReproduceOptions& options, reproduce::RecordedClaims recorded,
                    const std::vector<reproduce::Outcome>& outcomes, Closing& closing) {
  if (options.recorded.empty()) return;
  for (const reproduce::Outcome& outcome : outcomes) {
    const std::string& id = outcome.claim->id;
    if (reproduce::is_kept(*outcome.claim, outcome.seeds, recorded))
      say("{} keeps the numbers of {} that it has: {}\n", options.recorded, id,
          outcome.claim->missing.empty() ? fmt::format("they are of {} seeds", recorded.at(id).seeds)
                                         : "they are of sentence pairs");
    else if (auto one = reproduce::record_of(outcome))
      recorded[id] = *std::move(one);
  }
  closing.save(options.recorded, "reproduce", [&] { return reproduce::to_text(recorded); });
}

/// The judged claims in the order in which they were chosen: from the file of numbers, or measured now.
std::vector<reproduce::Outcome> in_order(const std::vector<const Claim*>& chosen, reproduce::Visit& visit,
                                         std::map<const Claim*, reproduce::Outcome>& known) {
  std::vector<reproduce::Outcome> outcomes;
  auto measured = visit.outcomes.begin();
  for (const Claim* claim : chosen) {
    const auto it = known.find(claim);
    outcomes.push_back(std::move(it == known.end() ? *measured++ : it->second));
  }
  return outcomes;
}

Exit list_claims(const std::vector<const Claim*>& claims, const reproduce::Seeds& seeds,
                 const StudyOptions& options) {
  experiments::ResultStore store(results_folder(options.store.folder, true));
  Bars bars;
  const reproduce::Visit visit = reproduce::visit(
      claims, seeds, store,
      {.runs_at_a_time = options.threads, .stored_only = true, .backend = backend_of(options.backend)},
      std::ref(bars));
  bars.finish(store);
  say("{}", reproduce::list_text(visit.outcomes));
  return Exit::Ok;
}

Exit measure_claims(const ReproduceOptions& options, const std::vector<const Claim*>& chosen,
                    const reproduce::Seeds& seeds, const reproduce::RecordedClaims& recorded) {
  std::map<const Claim*, reproduce::Outcome> known;
  const std::vector<const Claim*> claims = without_recorded(chosen, seeds, recorded, known);
  check_pairs(options, claims);
  std::vector<reproduce::Outcome> outcomes;
  StudyWork work{.name = "reproduce",
                 .file = "reproduction",
                 .extent = fmt::format("{} claims", claims.size()),
                 .inputs = inputs_of(chosen),
                 .outputs = {{"--recorded", options.recorded}},
                 .writes_partial = false};
  for (const Claim* claim : chosen) {
    work.outputs.push_back({"--out", picture_path(options, *claim)});
    work.runs += reproduce::cost_of(*claim, seeds.of(*claim)).runs;
  }
  work.command = [&](std::string_view between) { return reproduce_command_of(options, between); };
  work.last = recorded_text(options);
  work.train = [&](auto& store, const auto& runner, const OnProgress& on_progress) {
    reproduce::Visit visit = reproduce::visit(claims, seeds, store, runner, on_progress);
    outcomes = in_order(chosen, visit, known);
    return visit;
  };
  work.show = [&] {
    for (const reproduce::Outcome& outcome : outcomes) say("{}\n", reproduce::to_text(outcome));
    say("{}\n", reproduce::summary_text(outcomes));
    if (!known.empty()) say("{} claims judged by the numbers of {}\n", known.size(), options.recorded);
    return true;
  };
  work.json = [&] { return reproduce::to_json(outcomes).dump(1) + "\n"; };
  work.csv = [&] { return reproduce::to_csv(outcomes); };
  work.markdown = [&](const StudyFiles& files) {
    return reproduce::to_markdown(outcomes, page_command(page_line(options), files));
  };
  work.close = [&](Closing& closing) {
    for (const reproduce::Outcome& outcome : outcomes)
      closing.save(picture_path(options, *outcome.claim), "reproduce",
                   [&] { return reproduce::to_svg(outcome); });
    write_recorded(options, recorded, outcomes, closing);
    return Exit::Ok;
  };
  return run_study(options.study, work);
}

/// Refuses options without effect: a shard judges nothing, and a list writes nothing.
void check_options(const ReproduceOptions& options, bool list) {
  const StudyFiles& files = options.study.files;
  const bool part = shard_of(options.study.store).count > 1;
  for (const auto& [option, value] : {std::pair{"--page", &files.markdown},
                                      {"--json", &files.json},
                                      {"--csv", &files.csv},
                                      {"--recorded", &options.recorded}}) {
    if (value->empty()) continue;
    if (part)
      throw CommandError(
          Exit::Usage,
          fmt::format("{}: expected no --shard with it (a part of the runs judges nothing)", option));
    if (list)
      throw CommandError(Exit::Usage, fmt::format("{}: expected claims to write of, not list", option));
  }
  if (list && (part || !options.study.out.empty()))
    throw CommandError(Exit::Usage, "reproduce: list takes neither --shard nor --out");
}

Exit reproduce_command(const ReproduceOptions& options) {
  if (options.ids.size() > 1 && std::ranges::count(options.ids, "list") > 0)
    throw CommandError(Exit::Usage, "reproduce: list stands alone: expected no claims beside it");
  const bool list = options.ids == std::vector<std::string>{"list"};
  const Claims all = claims_of(options);
  const std::vector<const Claim*> claims = chosen_claims(all, options.ids);
  check_options(options, list);
  const reproduce::Seeds seeds{options.seeds, options.quick};
  const reproduce::RecordedClaims recorded = with_exit(Exit::Input, [&] {
    return options.recorded.empty() ? reproduce::RecordedClaims{}
                                    : reproduce::read_recorded(options.recorded);
  });
  const Exit done =
      list ? list_claims(claims, seeds, options.study) : measure_claims(options, claims, seeds, recorded);
  return done == Exit::Ok && !all.broken.empty() ? Exit::Input : done;
}

}  // namespace

void add_reproduce(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "reproduce",
                  "Figures, tables and theorems of the papers, trained here and judged; can be resumed",
                  reproduce_command);
  add_value(sub, "names", options.ids, "CLAIM",
            "all, or names of claims or of folders of claims; without one, which there are", {}, "list");
  sub.add_flag("--quick", options.quick, "one seed, or as many as a claim needs at least");
  add_value(sub, "--seeds", options.seeds, "N", "seeds 1 to N for every claim",
            whole(1, reproduce::kMaxSeeds), "as the claim says, mostly 5");
  add_value(
      sub, "--recorded", options.recorded, "FILE",
      "numbers measured before: claims that are still the same are judged by them and not trained; what is "
      "measured now joins them");
  add_value(sub, "--claims", options.folder, "DIR", "another folder of claims");
  add_value(sub, "--pairs", options.pairs, "DIR",
            "the folder of the sentence pairs (addons/translation/debian_pairs.py)", {},
            "pairs in the user's data; with --quick made-up ones");
  add_study(sub, options.study,
            {"write the measures and verdicts as JSON (docs/log-format.md)", "one line a measure and seed",
             "", "a page of all of them"});
}

}  // namespace normscope::commands
