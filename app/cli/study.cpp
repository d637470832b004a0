#include "app/cli/study.h"

#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <utility>

#include "engine/core/error.h"
#include "engine/io/output_file.h"
#include "training/files/command_text.h"
#include "training/io/input_value.h"
#include "training/io/text.h"

namespace normscope::cli {
namespace {

/// The files as asked for, or by default in --out.
StudyFiles files_in_place(const StudyOptions& options, const StudyWork& work) {
  const auto place = [&](const std::string& asked, const char* ending, bool there) {
    return !there || !asked.empty() || options.out.empty() ? asked : options.out + "/" + work.file + ending;
  };
  const StudyFiles& asked = options.files;
  return {place(asked.json, ".json", work.json != nullptr), place(asked.csv, ".csv", work.csv != nullptr),
          place(asked.svg, ".svg", work.svg != nullptr),
          place(asked.markdown, ".md", work.markdown != nullptr)};
}

/// The folder of --store, else beside the files of --out; empty: in the user's cache.
std::string store_folder(const StudyOptions& options) {
  const bool beside = options.store.folder.empty() && !options.out.empty();
  return beside ? options.out + "/runs" : options.store.folder;
}

/// The files to show a study in where none is asked for.
std::string usual_files(const StudyWork& work) {
  std::string shows;
  for (const auto& [option, there] :
       {std::pair("csv", work.csv != nullptr), std::pair("json", work.json != nullptr),
        std::pair("svg", work.svg != nullptr)})
    if (there) shows += fmt::format(" --{0} {1}.{0}", option, work.file);
  return shows;
}

std::string asked_files(const StudyOptions& options) {
  std::string line;
  for (const auto& [option, path] : {std::pair("--json", &options.files.json),
                                     {"--csv", &options.files.csv},
                                     {"--svg", &options.files.svg},
                                     {"--markdown", &options.files.markdown},
                                     {"--out", &options.out}})
    add_option_text(line, " ", option, *path);
  return line;
}

/// Every option of `options` as it was given, and those that the study has for its end.
std::string given_text(const StudyOptions& options, const StudyWork& work) {
  std::string line = asked_files(options);
  add_option_text(line, " ", "--store", options.store.folder);
  add_option_text(line, " ", "--shard", options.store.shard);
  if (options.threads > 0) line += fmt::format(" --threads {}", options.threads);
  if (options.stored) line += " --stored";
  if (options.dry_run) line += " --dry-run";
  return line + work.last;
}

/// A printed command has every option that was given, so that it trains the same and writes it to the same place.
Exit print_command(const StudyOptions& options, const StudyWork& work) {
  if (options.print_command == "command") {
    say("{}{}\n", work.command(" "), given_text(options, work));
    return Exit::Ok;
  }
  for (const auto& [option, given] : {std::pair("--shard", !options.store.shard.empty()),
                                      {"--stored", options.stored},
                                      {"--dry-run", options.dry_run},
                                      {"--store none", options.store.folder == "none"}})
    if (given)
      throw CommandError(Exit::Usage,
                         fmt::format("--print-command {}: expected no {} with it, as its shards train "
                                     "everything into one folder",
                                     options.print_command, option));
  const std::string folder = store_folder(options), asked = asked_files(options);
  const experiments::ExportedStudy where{.name = work.name,
                                         .command = work.command,
                                         .shows = (asked.empty() ? usual_files(work) : asked) + work.last,
                                         .runs = work.runs,
                                         .tasks = options.tasks,
                                         .cuda = options.backend.backend == "cuda",
                                         .threads = std::max(1, options.threads),
                                         .store = folder.empty() ? "" : shell_quoted(folder)};
  say("{}", experiments::text_for(options.print_command, where));
  return Exit::Ok;
}

experiments::ResultStore store_of(const StudyOptions& options) {
  return experiments::ResultStore(results_folder(store_folder(options), options.stored || options.dry_run));
}

/// Counts the runs in the store and estimates the rest.
Exit guess(const StudyWork& work, experiments::ResultStore& store, experiments::RunnerOptions runner) {
  runner.stored_only = true;
  const StudyResults count = work.train(store, runner, [](const experiments::Progress&) { return true; });
  const int32_t cores = experiments::runs_at_a_time(runner);
  say("{}, {} runs: {} are in the store, {} cannot be trained, {} are to be trained here\n", work.extent,
      static_cast<size_t>(count.stored + count.refused) + count.missing.size(), count.stored, count.refused,
      count.missing.size());
  if (!count.missing.empty())
    say("about {} on {} core{}\n",
        duration_words(experiments::estimated_seconds(count.missing, cores, runner.backend)), cores,
        cores == 1 ? "" : "s");
  return Exit::Ok;
}

void write_files(const StudyWork& work, const StudyFiles& files, Closing& closing) {
  const char* where = work.name.c_str();
  if (work.json) closing.save(files.json, where, work.json);
  if (work.csv) closing.save(files.csv, where, work.csv);
  if (work.svg) closing.save(files.svg, where, work.svg);
  if (work.markdown) closing.save(files.markdown, where, [&] { return work.markdown(files); });
}

experiments::RunnerOptions runner_of(const StudyOptions& options) {
  return {.runs_at_a_time = options.threads,
          .threads_each = 0,
          .stored_only = options.stored,
          .shard = shard_of(options.store),
          .backend = backend_of(options.backend)};
}

/// Trains, then shows and writes the results so far.
Exit train_study(const StudyOptions& options, const StudyWork& work, const StudyFiles& files,
                 const experiments::RunnerOptions& runner) {
  experiments::ResultStore store = store_of(options);
  const InterruptGuard guard;
  std::optional<Silence> silence;  // who asks for JSON alone is a program, which reads nothing else
  if (options.out.empty() && work.outputs.empty() && !files.json.empty() &&
      (files.csv + files.svg + files.markdown).empty())
    silence.emplace();
  Bars bars;
  const StudyResults count = work.train(store, runner, std::ref(bars));
  bars.clear();
  const bool whole = runner.shard.count == 1;
  const bool complete =
      (whole && (count.complete || work.writes_partial) ? work.show() : true) && count.complete;
  bars.finish(store);
  say("{} runs trained, {} taken from {}\n", count.trained, count.stored,
      store.folder().empty() ? "nowhere" : store.folder());
  Closing closing;
  Exit code = Exit::Ok;
  if (work.writes_partial || (whole && complete)) {
    write_files(work, files, closing);
    code = work.close(closing);
  }
  closing.attempt([&] { require_kept(store); });
  if (complete) return closing.code(code);
  complain(interrupted_text(store));
  return closing.code(Exit::Interrupted);
}

}  // namespace

Exit run_study(const StudyOptions& options, StudyWork work) {
  if (!options.print_command.empty()) return print_command(options, work);
  const experiments::RunnerOptions runner = runner_of(options);
  if (options.dry_run) {
    experiments::ResultStore store = store_of(options);
    return guess(work, store, runner);
  }
  const StudyFiles files = files_in_place(options, work);
  make_folder(options.out, Access::Shared, work.name);
  std::vector<NamedFile> outputs = {
      {"--json", files.json}, {"--csv", files.csv}, {"--svg", files.svg}, {"--markdown", files.markdown}};
  outputs.insert(outputs.end(), work.outputs.begin(), work.outputs.end());
  check_outputs(outputs, work.inputs);
  return train_study(options, work, files, runner);
}

void add_study(CLI::App& sub, StudyOptions& options, const StudyFiles& help) {
  const auto file = [&](const char* option, std::string& path, const std::string& words) {
    if (!words.empty()) sub.add_option(option, path, words)->type_name("FILE");
  };
  sub.add_flag("--stored", options.stored, "show what was trained before; train nothing");
  sub.add_flag("--dry-run", options.dry_run, "count the runs and guess their time; train none to its end");
  sub.add_option("--print-command", options.print_command,
                 "print what trains it elsewhere: as a command, a job array for Slurm, for GNU parallel")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(experiments::kForms), std::end(experiments::kForms))))
      ->type_name("FORM");
  sub.add_option("--tasks", options.tasks, "with --print-command slurm or parallel: how many shards")
      ->transform(whole(1, 1'000'000))
      ->type_name("N")
      ->default_str("one a run");
  file("--json", options.files.json, help.json);
  file("--csv", options.files.csv, help.csv);
  file("--svg", options.files.svg, help.svg);
  file("--markdown,--page", options.files.markdown, help.markdown);
  sub.add_option("--out", options.out,
                 "a folder for all files and for the runs, which are otherwise kept in the user's cache")
      ->type_name("DIR");
  add_store(sub, options.store);
  sub.add_option(
         "--threads", options.threads,
         "runs side by side, or threads of the last ones; 0: one per core it may use (never changes a result)")
      ->transform(whole(0, 256))
      ->type_name("N");
  add_backend(sub, options.backend);
}

std::string picture_beside(const StudyFiles& files) {
  if (files.svg.empty()) return {};
  const std::filesystem::path folder = std::filesystem::absolute(files.markdown).parent_path();
  return std::filesystem::absolute(files.svg).lexically_relative(folder).generic_string();
}

std::string page_command(std::string line, const StudyFiles& files) {
  for (const auto& [option, path] : {std::pair("--svg", &files.svg), {"--markdown", &files.markdown}})
    if (!path->empty() && std::filesystem::path(*path).is_relative())
      line += fmt::format(" {} {}", option, *path);
  return line;
}

std::string backend_line(const BackendOptions& options, std::string_view between) {
  return experiments::backend_text({options.backend == "cuda", options.tf32}, between);
}

void add_option_text(std::string& line, std::string_view between, const char* option,
                     const std::string& value) {
  if (!value.empty()) line.append(between).append(option).append(" ").append(shell_quoted(value));
}

namespace {

/// Makes the folder and checks that files can be made there, before anything is trained. A folder that is
/// only read stays as it is; a missing one holds nothing.
void prepare(const experiments::StorePlace& place) {
  if (!place.reads_only) {
    make_folder(place.folder, Access::Shared, "results");
    AtomicFile(place.folder + "/probe", "results");
    return;
  }
  struct stat info {};
  if (stat(place.folder.c_str(), &info) == 0 ? !S_ISDIR(info.st_mode) : errno != ENOENT)
    fail("results", "{} is no folder", place.folder);
}

}  // namespace

experiments::StorePlace results_folder(const std::string& asked, bool reads_only) {
  if (asked == "none") return {};
  if (!asked.empty()) {
    experiments::StorePlace place(asked, 0, reads_only);
    prepare(place);
    std::error_code unknown;
    if (reads_only && !std::filesystem::exists(asked, unknown))
      complain(Message("{} is not there: no run is kept in it", asked));
    return place;
  }
  try {
    experiments::StorePlace place = experiments::results_in_cache(reads_only);
    if (place.folder.empty()) throw Error("[results] there is no folder for a cache");
    prepare(place);
    return place;
  } catch (const Error& error) {
    complain(Message("{}; no run is kept", error.message));
    return {};
  }
}

experiments::Shard shard_of(const StoreOptions& options) {
  if (options.shard.empty()) return {};
  const std::string_view text = options.shard;
  const size_t slash = std::min(text.find('/'), text.size());
  experiments::Shard shard;
  const auto number = [](std::string_view part, int32_t& to) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), to);
    return error == std::errc() && end == part.data() + part.size();
  };
  return with_exit(Exit::Usage, [&] {
    if (slash == text.size() || !number(text.substr(0, slash), shard.index) ||
        !number(text.substr(slash + 1), shard.count) || shard.count < 1)
      fail("--shard", "{} is no shard: expected I/N with I from 0 to N - 1, as 0/8", shown_text(text));
    if (shard.index < 0 || shard.index >= shard.count)
      fail("--shard", "{} is out of range: expected 0/{} to {}/{}", shown_text(text), shard.count,
           shard.count - 1, shard.count);
    return shard;
  });
}

void require_kept(const experiments::ResultStore& store) {
  if (store.unkept_count() == 0 || store.place().budget != 0) return;
  throw CommandError(
      Exit::Internal,
      fmt::format("{} lacks results of this command; the same command trains them again", store.folder()));
}

std::string interrupted_text(const experiments::ResultStore& store) {
  if (store.folder().empty()) return "interrupted";
  return store.unkept_count() == 0
             ? "interrupted; the same command goes on from here"
             : "interrupted; the same command goes on from here and trains again what could not be kept";
}

bool Bars::operator()(const experiments::Progress& at) {
  if (!bar_ || at.looking != looking_ || at.total != total_) {
    if (bar_) bar_->finish();
    looking_ = at.looking;
    total_ = at.total;
    bar_.emplace(at.looking ? "looking through the store" : "training", at.total);
  }
  tell_unkept(at.unkept);
  if (at.total > 0) bar_->update(at.done, at.note);
  return !InterruptGuard::interrupted();
}

void Bars::clear() {
  if (bar_) bar_->finish();
}

void Bars::finish(const experiments::ResultStore& store) {
  clear();
  tell_unkept(store.unkept());
  for (const std::string& path : store.damaged())
    complain(path + (store.place().reads_only ? ": not a result that can be read"
                                              : ": not a result that can be read, trained again"));
  if (store.let_go() > 0)
    complain(
        Message("{} made room in {}, which keeps {}, as unused for longest; a folder that --store names "
                "keeps everything",
                store.let_go() == 1 ? "1 result" : Message("{} results", store.let_go()), store.folder(),
                Message("{:.1f} GiB", static_cast<double>(store.place().budget) / (1 << 30))));
}

void Bars::tell_unkept(const std::string& why) {
  if (why.empty() || std::exchange(told_, true)) return;
  clear();
  complain(Message("{}; what cannot be kept there is in the output of this command alone", why));
}

}  // namespace normscope::cli
