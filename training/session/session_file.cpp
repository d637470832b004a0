#include "training/session/session_file.h"

#include <chrono>
#include <filesystem>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "engine/io/output_file.h"
#include "training/io/codec.h"
#include "training/io/input_kinds.h"
#include "training/io/input_value.h"
#include "training/io/toml.h"
#include "training/run/checkpoint.h"
#include "training/session/lab_trainer.h"
#include "training/spec/small_size.h"
#include "training/spec/spec.h"

namespace normscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSession = "session";
constexpr const char* kWindowTable = "window";
constexpr size_t kLongestName = 255;
constexpr std::string_view kRunLetters[] = {"A", "B", "C", "D"};

/// Whether a text is the name of a file in the session's own folder.
bool names_weights(const std::string& name) {
  return name.ends_with(".safetensors") && name.find_first_of("/\\") == name.npos &&
         name.find('\0') == name.npos;
}

/// The runs by ascending letter.
struct RunsByLetter {
  static constexpr codec::List kRuns{1, kMaxRuns, codec::Object{}};
  codec::Json write(const std::vector<SessionRun>& runs) const { return kRuns.write(runs); }
  void read(const InputValue& json, std::vector<SessionRun>& runs) const {
    kRuns.read(json, runs);
    for (size_t i = 1; i < runs.size(); ++i)
      if (runs[i].letter <= runs[i - 1].letter)
        json.list(1, kMaxRuns)[i].at("letter").refuse("a letter after that of the run before");
  }
};

}  // namespace

template <class Io>
void io(Io& io, codec::Of<Io, SessionRun>& r) {
  constexpr codec::Text kText{kLongestText};
  io("letter", r.letter, codec::Words{kRunLetters});
  io("file", r.file, codec::Text{kLongestName});
  io.require(names_weights(r.file), "file", "the name of a safetensors file in the session's folder");
  io.optional("forked_from", r.forked_from, codec::Whole{-1, kMaxRuns - 1}, -1);
  io.optional("fork_step", r.fork_step, codec::Whole{0, kMaxSteps});
  io.optional("fork_note", r.fork_note, kText);
  io.optional("score", r.score, kText);
  io.optional("unscored", r.unscored);
  io.optional("hold", r.hold, codec::Whole{-1, kMaxSteps}, -1);
}

template <class Io>
void io(Io& io, codec::Of<Io, SavedSession>& s) {
  io("generation", s.generation, codec::Whole{0, int64_t{1} << 53});
  io("step", s.step, codec::Whole{0, kMaxSteps});
  io("budget", s.budget, codec::Whole{1, kMaxSteps});
  io("portion", s.portion, codec::Whole{1, kMaxSteps});
  io.optional("instant", s.instant);
  io("runs", s.runs, RunsByLetter{});
}

namespace {

std::string path_in(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / name).string();
}

std::string text_of(const SessionImage& image) {
  codec::Json window = codec::Json::parse(image.window, nullptr, false);
  if (!window.is_object()) window = codec::Json::object();
  window.update(codec::write<SavedSession>(image));
  const std::string text =
      fmt::format("{}\n[{}]\n{}", write_config(image.config), kWindowTable, toml_lines(window));
  return codec::Json::parse(codec::text_of(text)).get<std::string>();  // a path may be no UTF-8
}

/// Lists the files that a session names in its folder; none where there is no readable session.
std::set<std::string> named_in(const std::string& folder) {
  std::set<std::string> names;
  try {
    for (const SessionRun& run : read_session(folder).runs) names.insert(run.file);
  } catch (const Error&) {
  }
  return names;
}

}  // namespace

std::vector<ConfigRun> session_of(const LabView& view) {
  std::vector<ConfigRun> runs;
  for (const RunView& run : view.runs) {
    runs.push_back({run.letter, run.origin ? *run.origin : *run.spec, run.edits});
    runs.back().edits.insert(runs.back().edits.end(), run.scheduled.begin(), run.scheduled.end());
  }
  return runs;
}

session::ReplaceRuns replacing(const std::vector<ConfigRun>& runs, bool play) {
  session::ReplaceRuns command{.runs = {}, .play = play};
  for (const ConfigRun& run : runs) {
    command.runs.push_back(run.spec);
    command.edits.push_back(run.edits);
    command.letters += run.letter;
  }
  if (!command.letters.starts_with('A')) command.letters.clear();
  return command;
}

session::ReplaceRuns instant(session::ReplaceRuns command) {
  if (command.instant) return command;
  for (size_t i = 0; i < command.runs.size(); ++i) {
    RunSpec& spec = command.runs[i];
    if (i < command.edits.size()) spec = RunIdentity{spec, command.edits[i], {}}.spec();
    if (const Message why = without_small_size(spec); !why.empty()) fail("instant", why);
    spec = at_small_size(std::move(spec));
  }
  command.edits.clear();
  command.instant = true;
  return command;
}

SavedSession parse_session(std::string_view text, const std::string& name) {
  const Message where("{} {}", kSession, name);
  const toml::table root = parse_toml(text, name);
  const toml::table* window = root[kWindowTable].as_table();
  if (!window) fail(where, "there is no table [window]: expected a session");
  const std::string json = codec::text_of(json_of(*window));
  SavedSession session = codec::read<SavedSession>(InputValue::parse(json, where, kWindowTable));
  session.window = json;
  return session;
}

SavedSession read_session(const std::string& folder) {
  const std::string path = path_in(folder, kSessionFile);
  return parse_session(read_input_file(path, input::kSession), path);
}

int64_t session_generation(const std::string& folder) {
  try {
    return read_session(folder).generation;
  } catch (const std::exception&) {
    return 0;  // the folder has nothing to overwrite
  }
}

void SessionWriter::write(const SessionImage& image) {
  make_folder(folder_, Access::Own, kSession);
  if (!looked_) written_ = named_in(folder_);
  looked_ = true;
  std::set<std::string> used;
  for (size_t i = 0; i < image.runs.size(); ++i) {
    const std::string& file = image.runs[i].file;
    written_.insert(file);
    if (image.records[i]) write_checkpoint(*image.records[i], path_in(folder_, file));
    used.insert(file);
  }
  write_file(path_in(folder_, kSessionFile), text_of(image), kSession, Access::Own);
  std::error_code ignored;
  for (const std::string& name : written_)
    if (!used.contains(name)) fs::remove(path_in(folder_, name), ignored);
  written_ = used;
}

bool Autosaver::busy() const {
  return writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

void Autosaver::give(SessionImage image) {
  writing_ = start_task("autosave", [this, image = std::move(image)] {
    return guarded("autosave", [&] { writer_.write(image); });
  });
}

Message Autosaver::take_error() { return writing_.valid() && !busy() ? writing_.get() : Message(); }

// Identifies the state that a file was written from: any change of the run changes it.
uint64_t LabTrainer::stamp_of(const Run& run) {
  return run.history()->version() * 1000003 + run.revision() + 1;
}

SessionImage LabTrainer::image(int64_t generation, bool whole) {
  SessionImage image;
  image.step = now_.step;
  image.budget = now_.budget;
  image.portion = now_.portion;
  image.instant = now_.instant;
  image.generation = generation;
  if (now_.window) image.window = *now_.window;
  for (LabEntry* entry : now_.entries()) {
    // Of an instant run that is being trained there are only its settings.
    const std::unique_ptr<Run> begun =
        entry->wanted ? std::make_unique<Run>(*entry->wanted, task_for(entry->wanted->data), *backend_)
                      : nullptr;
    const Run& run = begun ? *begun : *entry->run;
    const uint64_t stamp = begun ? 0 : stamp_of(run);
    const bool written = !whole && !begun && entry->file_stamp == stamp;
    if (!written) entry->file = fmt::format("{}-{}.safetensors", entry->letter, generation);
    entry->file_stamp = stamp;
    image.config.push_back({entry->letter, run.origin(), run.identity().all_edits()});
    image.runs.push_back(*entry);
    image.records.push_back(written ? nullptr : std::make_shared<const RunRecord>(run.record()));
  }
  return image;
}

// Writes to a folder of the user's own: the whole session, and it remembers nothing of it.
void LabTrainer::serve(const session::SaveSession& asked) {
  if (now_.runs.empty()) return;
  const SessionImage whole = image(session_generation(asked.folder) + 1, true);
  for (LabEntry* entry : now_.entries()) entry->file_stamp = 0;
  SessionWriter(asked.folder).write(whole);
}

std::unique_ptr<LabEntry> LabTrainer::load_entry(const std::string& folder, const SessionRun& saved) {
  auto made = std::make_unique<LabEntry>();
  static_cast<SessionRun&>(*made) = saved;
  const std::string path = path_in(folder, saved.file);
  const RunIdentity saved_run = read_identity(SafetensorsFile::load_header(path));
  made->run = Run::load(path, task_for(saved_run.origin.data), *backend_);
  made->take = ++made_;
  return made;
}

// Checks all runs together before the first network is built; it reads the header of each file.
void LabTrainer::require_bytes_for(const std::string& folder, const SavedSession& session) {
  int64_t bytes = 0;
  for (const SessionRun& run : session.runs)
    bytes += most_bytes(read_identity(SafetensorsFile::load_header(path_in(folder, run.file))));
  require_bytes({"{} {}", kSession, folder}, bytes);
  while (!has_room(bytes) && drop_kept()) continue;
}

void LabTrainer::serve(const session::RestoreSession& command) {
  SavedSession saved = read_session(command.folder);
  require_bytes_for(command.folder, saved);
  std::vector<std::unique_ptr<LabEntry>> loaded;
  for (const SessionRun& run : saved.runs) loaded.push_back(load_entry(command.folder, run));
  begin_lineage();
  now_.step = saved.step;
  now_.budget = saved.budget;
  now_.portion = saved.portion;
  now_.instant = saved.instant;
  now_.window = std::make_shared<const std::string>(std::move(saved.window));
  now_.playing = command.play && !now_.instant && now_.step < now_.budget;
  show(std::move(loaded));
  come_back(false);
  if (!now_.instant) return;
  for (LabEntry* entry : now_.entries())
    if (entry->run->steps_done() == 0) entry->wanted = std::make_shared<const RunSpec>(entry->run->spec());
  want_anew();
}

}  // namespace normscope
