// normscope zoo: every placement, norm, initialisation and optimizer on one model, as a table that the
// program makes. Resumable: finished runs are kept, interrupted ones go on from their step.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "app/cli/options.h"
#include "app/commands/specs.h"
#include "app/cli/terminal.h"
#include "app/shell/settings.h"
#include "app/zoo/summary.h"
#include "app/zoo/trainer.h"
#include "engine/io/atomic_file.h"

namespace normscope::cli {
namespace {

namespace fs = std::filesystem;

zoo::Plan plan_of(const ZooOptions& options) {
  zoo::Plan plan;
  plan.entries = with_exit(Exit::usage, [&] { return zoo::entries_named(options.only); });
  if (!options.depths.empty()) plan.depths = options.depths;
  if (options.only.empty()) plan.deep = zoo::depth_question();
  plan.seeds = options.seeds, plan.steps = options.steps, plan.warmup = options.warmup;
  plan.base = options.set;
  return plan;
}

Exit list(const zoo::Plan& plan) {
  const zoo::Group* group = nullptr;
  for (const zoo::Entry& entry : plan.entries) {
    if (!group || *group != entry.group) say("{} ({})\n", zoo::title(entry.group), to_string(entry.group));
    group = &entry.group;
    say("  {:<22} {:<44} {}\n  {:<22}   {}\n", entry.name, entry.title, entry.source, "",
        fmt::join(entry.set, "  "));
  }
  return Exit::ok;
}

/// What the files are called: as asked, or by default in --out.
struct Files {
  std::string json, csv, svg, markdown;
};

Files files_of(const ZooOptions& options) {
  const auto place = [&](const std::string& asked, const char* name) {
    return !asked.empty() || options.out.empty() ? asked : options.out + "/" + name;
  };
  return {place(options.json, "zoo.json"), place(options.csv, "zoo.csv"), place(options.svg, "zoo.svg"),
          place(options.markdown, "zoo.md")};
}

std::string store_folder(const ZooOptions& options) {
  if (!options.out.empty()) return options.out + "/runs";
  const std::string cache = cache_folder();
  return cache.empty() ? cache : cache + "/zoo";
}

/// In the user's cache unless --out says otherwise. Where nothing can be kept there, the runs are trained all the
/// same.
zoo::RecordStore store_of(const ZooOptions& options) {
  const std::string folder = store_folder(options);
  if (!options.out.empty()) return zoo::RecordStore(folder);
  try {
    if (folder.empty()) throw Error("[zoo] there is no folder for a cache");
    zoo::RecordStore store(folder);
    if (!options.stored) AtomicFile(folder + "/probe", "zoo");
    return store;
  } catch (const Error& error) {
    complain(fmt::format("{}; no run is kept", error.what()));
    return zoo::RecordStore("");
  }
}

/// The line that makes the same table, without what only names files of this machine.
std::string command_of(const ZooOptions& options) {
  std::string line = "normscope zoo";
  if (!options.depths.empty()) line += fmt::format(" --depth {}", fmt::join(options.depths, ","));
  if (!options.only.empty()) line += " --only " + options.only;
  if (options.seeds != zoo::Plan{}.seeds) line += fmt::format(" --seeds {}", options.seeds);
  if (options.steps > 0) line += fmt::format(" --steps {}", options.steps);
  if (options.warmup > 0) line += fmt::format(" --warmup {}", options.warmup);
  for (const std::string& assignment : options.set) line += " --set " + assignment;
  for (const auto& [option, path] :
       {std::pair("--svg", options.svg), std::pair("--markdown", options.markdown)})
    if (!path.empty() && fs::path(path).is_relative()) line += fmt::format(" {} {}", option, path);
  return line;
}

void write_files(const ZooOptions& options, const Files& files, const zoo::Summary& summary,
                 Closing& closing) {
  const auto save = [&](const std::string& path, auto text) {
    if (path.empty()) return;
    closing.attempt([&] {
      write_file(path, text(), "zoo");
      say("wrote {}\n", path);
    });
  };
  save(files.json, [&] { return zoo::to_json(summary).dump(1) + "\n"; });
  save(files.csv, [&] { return zoo::to_csv(summary); });
  save(files.svg, [&] { return zoo::to_svg(summary); });
  if (files.markdown.empty()) return;
  const fs::path folder = fs::absolute(files.markdown).parent_path();
  const std::string picture =
      files.svg.empty() ? "" : fs::absolute(files.svg).lexically_relative(folder).generic_string();
  save(files.markdown, [&] { return zoo::to_markdown(summary, picture, command_of(options)); });
}

/// Both phases of a visit as progress bars. False: interrupted.
class Bars {
 public:
  bool operator()(const zoo::TrainerProgress& at) {
    if (!bar_ || at.checking != checking_) {
      if (bar_) bar_->finish();
      checking_ = at.checking;
      bar_.emplace(at.checking ? "looking through the store" : "training", at.total);
    }
    if (at.total > 0) bar_->update(at.done, at.note);
    return !InterruptGuard::interrupted();
  }
  void finish() {
    if (bar_) bar_->finish();
  }

 private:
  std::optional<Progress> bar_;
  bool checking_ = false;
};

/// Runs that could not be trained at all: one line.
void refuse_failed(const zoo::Summary& summary) {
  for (const zoo::Row& row : summary.rows)
    for (const zoo::Arm& arm : row.arms)
      for (const auto& run : arm.runs)
        if (run && run->verdict == zoo::Verdict::Failed)
          throw CommandError(Exit::internal, fmt::format("zoo: {}: {}", row.entry.name, run->what));
}

}  // namespace

Exit zoo(const ZooOptions& options) {
  const zoo::Plan plan = plan_of(options);
  if (options.list) return list(plan);
  const std::vector<zoo::Job> jobs = with_exit(Exit::usage, [&] { return zoo::jobs_of(plan); });
  const Files files = files_of(options);
  make_folder(options.out, Access::shared, "zoo");
  check_outputs(
      {{"--json", files.json}, {"--csv", files.csv}, {"--svg", files.svg}, {"--markdown", files.markdown}},
      jobs.empty() ? std::vector<NamedFile>{} : files_of(jobs.front().spec));
  zoo::RecordStore store = store_of(options);

  const InterruptGuard guard;
  Bars bars;
  const zoo::TrainerOptions trainer{options.threads, 1, options.stored};
  const zoo::Visit visit = zoo::visit(jobs, store, trainer, std::ref(bars));
  bars.finish();
  for (const std::string& path : store.damaged())
    complain(path + ": not a result that can be read, trained again");

  const zoo::Summary summary = zoo::summarise(plan, jobs, visit.records);
  say("{}\n{} runs trained, {} taken from {}\n", zoo::to_text(summary), visit.trained, visit.stored,
      store.folder().empty() ? "nowhere" : store.folder());
  Closing closing;
  write_files(options, files, summary, closing);
  if (!visit.complete) {
    complain(store.folder().empty() ? "interrupted" : "interrupted; the same command goes on from here");
    return closing.code(Exit::interrupted);
  }
  closing.attempt([&] { refuse_failed(summary); });
  return closing.code(Exit::ok);
}

}  // namespace normscope::cli
