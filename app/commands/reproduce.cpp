// normscope reproduce: figures, tables and theorems of the papers, trained here and judged. Resumable and shared out over
// machines: finished runs are kept, interrupted ones go on from their step.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/machine.h"
#include "app/cli/options.h"
#include "app/cli/products.h"
#include "app/cli/results.h"
#include "app/cli/specs.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "app/reproduce/claim_reader.h"
#include "app/reproduce/recorded.h"
#include "app/reproduce/trainer.h"
#include "app/reproduce/writers.h"
#include "app/sweep/trainer.h"
#include "training/data/task.h"
#include "training/data/tokenizer.h"
#include "training/files/places.h"

namespace normscope::cli {
namespace {

using reproduce::Claim, reproduce::Claims;

struct ReproduceOptions {
  std::vector<std::string> ids;  ///< claims, papers, "all" or "list"
  std::string folder;            ///< of the claims; empty: the program's
  std::string pairs;             ///< the folder of the sentence pairs; empty: that in the user's data
  bool quick = false, stored = false, dry_run = false;
  int32_t seeds = 0;  ///< 0: as each claim says
  std::string json, csv, page, out;
  std::string recorded;  ///< numbers that were measured before; empty: none
  StoreOptions store{};
  BackendOptions backend{};
  int32_t threads = 0;
};

/// Empty: claims on sentence pairs take the made-up translation. A quick look does, unless it is told where they are.
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

/// By its name, or all of a folder: "xiong-2020".
bool is_asked(const Claim& claim, const std::string& name) {
  return claim.id == name || std::filesystem::path(claim.file).parent_path().filename() == name;
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
    if (std::none_of(all.claims.begin(), all.claims.end(),
                     [&](const Claim& claim) { return is_asked(claim, id); }))
      throw CommandError(
          Exit::Usage,
          fmt::format("reproduce: '{}' is no claim and no folder of claims: expected all or names of "
                      "`normscope reproduce list`",
                      id));
  }
  return chosen;
}

std::string place_of(const ReproduceOptions& options, const std::string& asked, const char* name) {
  return !asked.empty() || options.out.empty() ? asked : options.out + "/" + name;
}

/// The line that makes the same page, without what only names files of this machine.
std::string page_command(const ReproduceOptions& options) {
  std::string line = "normscope reproduce " + fmt::format("{}", fmt::join(options.ids, " "));
  if (options.quick) line += " --quick";
  if (options.quick && !options.pairs.empty()) line += " --pairs DIR";
  if (options.seeds > 0) line += fmt::format(" --seeds {}", options.seeds);
  if (!options.recorded.empty() && std::filesystem::path(options.recorded).is_relative())
    line += " --recorded " + options.recorded;
  if (std::filesystem::path(options.page).is_relative()) line += " --page " + options.page;
  return line;
}

void write_outcomes(const ReproduceOptions& options, const std::vector<reproduce::Outcome>& outcomes,
                    Closing& closing) {
  closing.save(place_of(options, options.json, "reproduction.json"), "reproduce",
               [&] { return reproduce::to_json(outcomes).dump(1) + "\n"; });
  closing.save(place_of(options, options.csv, "reproduction.csv"), "reproduce",
               [&] { return reproduce::to_csv(outcomes); });
  if (!options.out.empty())
    for (const reproduce::Outcome& outcome : outcomes)
      closing.save(options.out + "/" + outcome.claim->id + ".svg", "reproduce",
                   [&] { return reproduce::to_svg(outcome); });
  closing.save(options.page, "reproduce",
               [&] { return reproduce::to_markdown(outcomes, page_command(options)); });
}

void check_reproduce_outputs(const ReproduceOptions& options, const std::vector<const Claim*>& claims) {
  std::vector<NamedFile> outputs{{"--json", place_of(options, options.json, "reproduction.json")},
                                 {"--csv", place_of(options, options.csv, "reproduction.csv")},
                                 {"--page", options.page},
                                 {"--recorded", options.recorded}};
  std::vector<NamedFile> inputs;
  for (const Claim* claim : claims) {
    inputs.push_back({"a claim", claim->file});
    for (const lessons::LessonRun& run : claim->language.runs)
      for (NamedFile& file : files_of(run.spec)) inputs.push_back(std::move(file));
    if (!options.out.empty()) outputs.push_back({"--out", options.out + "/" + claim->id + ".svg"});
  }
  check_outputs(outputs, inputs);
}

/// What the runs of a claim and its fresh models read.
std::vector<DataSpec> data_of(const Claim& claim) {
  std::vector<DataSpec> data;
  for (const experiments::Experiment& run : reproduce::experiments_of(claim, 1))
    data.push_back(run.spec.data);
  for (const reproduce::Line& line : claim.lines)
    if (line.of == reproduce::Line::Of::Fresh)
      data.push_back(lessons::spec_of(claim.language, line.runs[0], 1).data);
  return data;
}

/// Before anything is trained: sentence pairs that are missing, or give no data, as too few for the pieces do.
void check_pairs(const ReproduceOptions& options, const std::vector<const Claim*>& claims) {
  std::string missing;
  std::vector<DataSpec> different;
  for (const Claim* claim : claims) {
    if (!claim->missing.empty()) missing = claim->missing;
    for (DataSpec& data : data_of(*claim))
      if (data.name == "pairs" && std::find(different.begin(), different.end(), data) == different.end())
        different.push_back(std::move(data));
  }
  const std::string without = tokenizer_unavailable();
  if (!different.empty() && !without.empty()) throw CommandError(Exit::Input, "--pairs: " + without);
  for (const DataSpec& data : different) with_exit(Exit::Input, [&] { make_task(data); });
  if (missing.empty() || (options.quick && options.pairs.empty())) return;
  if (!options.pairs.empty())
    throw CommandError(
        Exit::Input,
        fmt::format("--pairs: {} is missing: expected what scripts/debian_pairs.py makes", missing));
  complain(
      fmt::format("{}; claims on sentence pairs take the made-up translation",
                  without.empty() ? missing + " is missing (scripts/debian_pairs.py makes it)" : without));
}

Exit guess_reproduce(const std::vector<const Claim*>& claims, const reproduce::Seeds& seeds,
                     experiments::ResultStore& store, const experiments::RunnerOptions& runner) {
  const std::vector<RunSpec> missing = reproduce::missing_runs(claims, seeds, store, runner);
  const int32_t cores = runner.runs_at_a_time > 0 ? runner.runs_at_a_time
                        : runner.backend.cuda     ? 1
                                                  : experiments::default_runs_at_a_time();
  say("{} claims: {} runs are to be trained here\n", claims.size(), missing.size());
  if (!missing.empty())
    say("about {} on {} core{}, and fresh models beside them\n",
        sweep::duration_words(sweep::estimated_seconds(missing, cores, runner.backend)), cores,
        cores == 1 ? "" : "s");
  return Exit::Ok;
}

/// Claims that are still those of the file of numbers are judged from them, in the order of all.
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

/// What was measured now joins the file of numbers, where the file has no better ones.
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

Exit train_claims(const ReproduceOptions& options, const Claims& all, const std::vector<const Claim*>& chosen,
                  const experiments::RunnerOptions& runner) {
  const reproduce::Seeds seeds{options.seeds, options.quick};
  const reproduce::RecordedClaims recorded = with_exit(Exit::Input, [&] {
    return options.recorded.empty() ? reproduce::RecordedClaims{}
                                    : reproduce::read_recorded(options.recorded);
  });
  std::map<const Claim*, reproduce::Outcome> known;
  const std::vector<const Claim*> claims = without_recorded(chosen, seeds, recorded, known);
  const bool list = options.ids == std::vector<std::string>{"list"};
  if (!list) check_pairs(options, claims);
  if (!list && !options.dry_run) {
    make_folder(options.out, Access::Shared, "reproduce");
    check_reproduce_outputs(options, chosen);
  }
  const bool beside = options.store.folder.empty() && !options.out.empty();
  experiments::ResultStore store(results_folder(beside ? options.out + "/runs" : options.store.folder,
                                                runner.stored_only || options.dry_run));
  if (options.dry_run) return guess_reproduce(claims, seeds, store, runner);
  const InterruptGuard guard;
  if (!runner.stored_only) use_fastest_products();
  Bars bars;
  reproduce::Visit visit = reproduce::visit(claims, seeds, store, runner, std::ref(bars));
  bars.finish(store);
  std::vector<reproduce::Outcome> outcomes;
  for (const Claim* claim : chosen) {
    const auto it = known.find(claim);
    const auto place = static_cast<size_t>(std::find(claims.begin(), claims.end(), claim) - claims.begin());
    outcomes.push_back(std::move(it == known.end() ? visit.outcomes[place] : it->second));
  }
  const Exit read = all.broken.empty() ? Exit::Ok : Exit::Input;
  if (list) {
    say("{}", reproduce::list_text(outcomes));
    return read;
  }
  if (runner.shard.count == 1) {
    for (const reproduce::Outcome& outcome : outcomes) say("{}\n", reproduce::to_text(outcome));
    say("{}\n", reproduce::summary_text(outcomes));
  }
  say("{} runs trained, {} taken from {}\n", visit.trained, visit.stored,
      store.folder().empty() ? "nowhere" : store.folder());
  if (!known.empty()) say("{} claims judged by the numbers of {}\n", known.size(), options.recorded);
  Closing closing;
  // A shard judges nothing, and what was stopped leaves the verdicts of before.
  if (visit.complete && runner.shard.count == 1) {
    write_outcomes(options, outcomes, closing);
    write_recorded(options, recorded, outcomes, closing);
  }
  closing.attempt([&] { require_kept(store); });
  if (visit.complete) return closing.code(read);
  complain(interrupted_text(store));
  return closing.code(Exit::Interrupted);
}

Exit reproduce_command(const ReproduceOptions& options) {
  if (options.ids.size() > 1 && std::count(options.ids.begin(), options.ids.end(), "list") > 0)
    throw CommandError(Exit::Usage, "reproduce: list stands alone: expected no claims beside it");
  const bool list = options.ids == std::vector<std::string>{"list"};
  const Claims all = claims_of(options);
  const std::vector<const Claim*> claims = chosen_claims(all, options.ids);
  experiments::RunnerOptions runner;
  runner.runs_at_a_time = options.threads;
  runner.threads_each = 0;
  runner.stored_only = options.stored || list;
  runner.shard = shard_of(options.store);
  runner.backend = backend_of(options.backend);
  for (const auto& [option, value] : {std::pair{"--page", &options.page},
                                      {"--json", &options.json},
                                      {"--csv", &options.csv},
                                      {"--recorded", &options.recorded}}) {
    if (value->empty()) continue;
    if (runner.shard.count > 1)
      throw CommandError(
          Exit::Usage,
          fmt::format("{}: expected no --shard with it (a part of the runs judges nothing)", option));
    if (list)
      throw CommandError(Exit::Usage, fmt::format("{}: expected claims to write of, not list", option));
  }
  if (list && (runner.shard.count > 1 || !options.out.empty()))
    throw CommandError(Exit::Usage, "reproduce: list takes neither --shard nor --out");
  return train_claims(options, all, claims, runner);
}

}  // namespace

void add_reproduce(CLI::App& app, Command& command) {
  const auto options = std::make_shared<ReproduceOptions>();
  CLI::App& sub = *app.add_subcommand(
      "reproduce", "Figures, tables and theorems of the papers, trained here and judged; can be resumed");
  sub.footer(kFooter);
  sub.add_option("names", options->ids,
                 "list, all, or names of claims or of folders of claims (reproduce list)")
      ->type_name("CLAIM")
      ->required();
  sub.add_flag("--quick", options->quick, "one seed, or as many as a claim needs at least");
  sub.add_option("--seeds", options->seeds, "seeds 1 to N for every claim")
      ->check(CLI::Range(1, reproduce::kMostSeeds))
      ->type_name("N")
      ->default_str("as the claim says, mostly 5");
  sub.add_flag("--stored", options->stored, "the verdicts of what was trained before; train nothing");
  sub.add_flag("--dry-run", options->dry_run, "count the runs and guess their time; train none to its end");
  sub.add_option("--json", options->json, "write the measures and verdicts as JSON (docs/log-format.md)")
      ->type_name("FILE");
  sub.add_option("--csv", options->csv, "one line a measure and seed")->type_name("FILE");
  sub.add_option("--page", options->page, "a page of all of them")->type_name("FILE");
  sub.add_option(
         "--recorded", options->recorded,
         "numbers measured before: claims that are still the same are judged by them and not trained; what is "
         "measured now joins them")
      ->type_name("FILE");
  sub.add_option(
         "--out", options->out,
         "a folder for JSON, CSV, a picture a claim, and for the runs, which are otherwise kept in the user's "
         "cache")
      ->type_name("DIR");
  sub.add_option("--claims", options->folder, "another folder of claims")->type_name("DIR");
  sub.add_option("--pairs", options->pairs, "the folder of the sentence pairs (scripts/debian_pairs.py)")
      ->type_name("DIR")
      ->default_str("pairs in the user's data; with --quick made-up ones");
  add_store(sub, options->store);
  sub.add_option(
         "--threads", options->threads,
         "runs side by side, or threads of the last ones; 0: one per core it may use (never changes a result)")
      ->check(CLI::Range(0, 256))
      ->type_name("N");
  add_backend(sub, options->backend);
  sub.callback([options, &command] { command = [options] { return reproduce_command(*options); }; });
}

}  // namespace normscope::cli
