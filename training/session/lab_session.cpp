// A session in a folder: see lab_session.h. Here also LabTrainer's side of it, image and restore.
#include "training/session/lab_session.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <limits>
#include <set>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/core/machine_memory.h"
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/io/input_value.h"
#include "engine/io/safetensors.h"
#include "training/run/saved_run.h"
#include "training/session/lab_trainer.h"
#include "training/spec/limits.h"

namespace normscope {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kFormat = "normscope session 1";
constexpr const char* kSession = "session";

constexpr size_t kMostStashed = 64, kMostKeyframes = 64;
constexpr size_t kLongestName = 255, kLongestSidecar = 32'000'000;
constexpr std::string_view kLetters[] = {"A", "B", "C", "D"};
constexpr std::string_view kPlaces[] = {"run", "undo", "redo", "parked"};

SavedSession read_session(const std::string& folder) {
  const std::string path = (fs::path(folder) / "session.json").string();
  return parse_session(read_input_file(path, input::kSession), path);
}

/// The name of a file in the session's own folder.
std::string file_name(const InputValue& value) {
  std::string name = value.text(kLongestName);
  const bool plain = name.ends_with(".safetensors") && name.find_first_of("/\\") == name.npos &&
                     name.find('\0') == name.npos;
  if (!plain) value.refuse("the name of a safetensors file in the session's folder");
  return name;
}

SavedSession::Entry entry_from(const InputValue& item) {
  SavedSession::Entry entry;
  const auto place = item.find("place"), empty = item.find("empty");
  entry.place = place ? kPlaces[place->choice(kPlaces)] : kPlaces[0];
  entry.empty = empty && empty->flag();
  if (entry.empty) return entry;
  entry.letter = kLetters[item.at("letter").choice(kLetters)][0];
  entry.file = file_name(item.at("file"));
  entry.forked_from = item.at("forked_from").whole(-1, static_cast<int32_t>(kMostRuns) - 1);
  entry.fork_step = item.at("fork_step").whole(0, kMostSteps);
  entry.fork_note = item.at("fork_note").text(kLongestText);
  if (const auto score = item.find("score")) entry.score = score->text(kLongestText);
  if (const auto unscored = item.find("unscored")) entry.unscored = unscored->flag();
  if (const auto hold = item.find("hold")) entry.hold = hold->whole(-1, kMostSteps);
  if (const auto before = item.find("budget_before")) entry.budget_before = before->whole(0, kMostSteps);
  if (const auto keyframes = item.find("keyframes"))
    for (const InputValue& file : keyframes->list(0, kMostKeyframes))
      entry.keyframes.push_back(file_name(file));
  return entry;
}

/// The files that a session names in its folder; none where there is no session that can be read.
std::set<std::string> named_in(const std::string& folder) {
  std::set<std::string> names;
  try {
    const SavedSession session = read_session(folder);
    for (const auto* entries : {&session.runs, &session.stash})
      for (const SavedSession::Entry& entry : *entries) {
        if (!entry.file.empty()) names.insert(entry.file);
        names.insert(entry.keyframes.begin(), entry.keyframes.end());
      }
  } catch (const Error&) {
  }
  return names;
}

}  // namespace

SavedSession parse_session(std::string_view json, const std::string& name) {
  const InputValue root = InputValue::parse(json, fmt::format("{} {}", kSession, name));
  constexpr std::string_view kFormats[] = {kFormat};
  root.at("format").choice(kFormats);
  SavedSession session;
  if (const auto generation = root.find("generation"))
    session.generation = generation->whole64(0, int64_t{1} << 53);
  session.step = root.at("step").whole(0, kMostSteps);
  session.budget = session.portion = root.at("budget").whole(1, kMostSteps);
  if (const auto portion = root.find("portion")) session.portion = portion->whole(1, kMostSteps);
  if (const auto sidecar = root.find("companion")) session.sidecar = sidecar->text(kLongestSidecar);
  std::set<char> letters;
  for (const InputValue& item : root.at("runs").list(1, kMostRuns)) {
    session.runs.push_back(entry_from(item));
    if (session.runs.back().empty) item.at("empty").refuse("false: a run that is shown");
    if (!letters.insert(session.runs.back().letter).second)
      item.at("letter").refuse("another letter than that of the runs before");
  }
  if (const auto stash = root.find("aside"))
    for (const InputValue& item : stash->list(0, kMostStashed)) session.stash.push_back(entry_from(item));
  return session;
}

int64_t session_generation(const std::string& folder) {
  try {
    return read_session(folder).generation;
  } catch (const std::exception&) {
    return 0;  // nothing there that could be overwritten
  }
}

void SessionWriter::write(const SessionImage& image) {
  const fs::path folder = folder_;
  make_folder(folder_, Access::Own, kSession);
  if (!looked_) written_ = named_in(folder_);
  looked_ = true;
  std::set<std::string> used;
  std::erase_if(keyframes_, [](const auto& known) { return known.first.expired(); });
  const auto keyframe_file = [&](const SessionImage::Entry& entry, const auto& frame) {
    auto known = keyframes_.find(frame);
    if (known == keyframes_.end()) {
      const std::string name =
          fmt::format("{}-step{}-{}.safetensors", entry.letter, frame->step, image.generation);
      const std::string own = used.contains(name) ? fmt::format("{}-{}", used.size(), name) : name;
      written_.insert(own);
      write_keyframe(*frame, (folder / own).string());
      known = keyframes_.emplace(frame, own).first;
    }
    used.insert(known->second);
    return known->second;
  };
  Json session = {{"format", kFormat},      {"generation", image.generation}, {"step", image.step},
                  {"budget", image.budget}, {"portion", image.portion},       {"companion", image.sidecar}};
  Json &runs = session["runs"] = Json::array(), &stash = session["aside"] = Json::array();
  for (const SessionImage::Entry& entry : image.entries) {
    Json item = {{"place", entry.place}, {"empty", entry.empty}};
    if (!entry.empty) {
      written_.insert(entry.file);
      if (entry.image) entry.image->write((folder / entry.file).string());
      used.insert(entry.file);
      item.update({{"letter", std::string(1, entry.letter)},
                   {"file", entry.file},
                   {"forked_from", entry.forked_from},
                   {"fork_step", entry.fork_step},
                   {"fork_note", entry.fork_note},
                   {"score", entry.score},
                   {"unscored", entry.unscored},
                   {"hold", entry.hold},
                   {"budget_before", entry.budget_before}});
      Json& keyframes = item["keyframes"] = Json::array();
      for (const auto& frame : entry.keyframes) keyframes.push_back(keyframe_file(entry, frame));
    }
    (entry.place == "run" ? runs : stash).push_back(std::move(item));
  }
  const std::string text = session.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  write_file((folder / "session.json").string(), text, kSession, Access::Own);
  std::error_code ignored;
  for (const std::string& name : written_)
    if (!used.contains(name)) fs::remove(folder / name, ignored);
  written_ = used;
  // A keyframe that was left out this time may be wanted again: its file is gone.
  std::erase_if(keyframes_, [&](const auto& known) { return !used.contains(known.second); });
}

Autosaver::Autosaver(std::string folder)
    : writer_(std::move(folder)), thread_(start_thread("autosave", [this] { loop(); })) {}

Autosaver::~Autosaver() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

bool Autosaver::busy() const {
  const std::lock_guard lock(mutex_);
  return image_.has_value();
}

void Autosaver::give(SessionImage image) {
  {
    const std::lock_guard lock(mutex_);
    image_ = std::move(image);
  }
  wake_.notify_one();
}

std::string Autosaver::take_error() {
  const std::lock_guard lock(mutex_);
  return std::exchange(error_, {});
}

void Autosaver::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return image_ || ending_; });
    if (!image_) return;
    const SessionImage& image = *image_;  // busy: nobody else touches it
    lock.unlock();
    std::string error = guarded("autosave", [&] { writer_.write(image); });
    lock.lock();
    error_ = std::move(error);
    image_.reset();
  }
}

// Where the state is that a file was written from: any change of the run changes it.
uint64_t LabTrainer::stamp_of(const Run& run) {
  return run.history()->version() * 1000003 + run.revision() + 1;
}

SessionImage LabTrainer::image(int64_t generation, bool whole) {
  SessionImage image;
  image.step = step_;
  image.budget = budget_;
  image.portion = portion_;
  image.generation = generation;
  std::set<std::string> names;
  const auto add = [&](const char* place, LabEntry* entry) {
    SessionImage::Entry& out = image.entries.emplace_back();
    out.place = place;
    out.empty = !entry;
    if (!entry) return;
    out.letter = entry->letter;
    out.forked_from = entry->forked_from;
    out.fork_step = entry->fork_step;
    out.hold = entry->hold;
    out.fork_note = entry->fork_note;
    out.score = entry->score;
    out.unscored = entry->unscored;
    out.budget_before = entry->budget_before;
    out.keyframes = entry->run->lasting_keyframes();
    const uint64_t stamp = stamp_of(*entry->run);
    if (!whole && entry->file_stamp == stamp) {
      out.file = entry->file;
    } else {
      out.file = fmt::format("{}-{}.safetensors", entry->letter, generation);
      for (int i = 2; names.contains(out.file); ++i)
        out.file = fmt::format("{}-{}-{}.safetensors", entry->letter, generation, i);
      out.image = entry->run->image();
      entry->file = out.file;
      entry->file_stamp = stamp;
    }
    names.insert(out.file);
  };
  for (LabEntry* entry : entries()) add("run", entry);
  for (const auto& entry : undo_) add("undo", entry.get());
  for (const auto& entry : redo_) add("redo", entry.get());
  for (const auto& entry : parked_) add("parked", entry.get());
  return image;
}

// Into a folder of the person's own: whole, and nothing is remembered of it.
void LabTrainer::save(const std::string& folder) {
  if (runs_.empty()) return;
  SessionImage whole = image(session_generation(folder) + 1, true);
  for (LabEntry* entry : kept()) entry->file_stamp = 0;
  whole.sidecar = own_sidecar;
  SessionWriter(folder).write(whole);
}

std::unique_ptr<LabEntry> LabTrainer::load_entry(const std::string& folder,
                                                 const SavedSession::Entry& entry) {
  auto made = std::make_unique<LabEntry>();
  const auto inside = [&](const std::string& name) { return (fs::path(folder) / name).string(); };
  const std::string path = inside(entry.file);
  const SavedRun header = read_saved_header(SafetensorsFile::load_header(path));
  made->run = Run::load(path, task_for(header.spec.data), *backend_);
  made->letter = entry.letter;
  made->forked_from = entry.forked_from;
  made->fork_step = entry.fork_step;
  made->fork_note = entry.fork_note;
  made->score = entry.score;
  made->unscored = entry.unscored;
  made->hold = entry.hold;
  made->budget_before = entry.budget_before;
  std::vector<std::shared_ptr<const Keyframe>> keyframes;
  for (const std::string& name : entry.keyframes) {
    // They only make replays shorter: one that is gone is done without.
    std::error_code error;
    if (fs::exists(inside(name), error)) keyframes.push_back(read_keyframe(inside(name)));
  }
  made->run->restore_keyframes(std::move(keyframes));
  return made;
}

// All of them together, before the first network is built; of each file the header is read.
void LabTrainer::require_memory_for(const std::string& folder, const SavedSession& session) {
  int64_t bytes = 0;
  for (const auto* entries : {&session.runs, &session.stash})
    for (const SavedSession::Entry& entry : *entries)
      if (!entry.empty)
        bytes +=
            read_saved_header(SafetensorsFile::load_header((fs::path(folder) / entry.file).string())).bytes;
  require_memory(fmt::format("{} {}", kSession, folder), bytes);
}

void LabTrainer::restore(const std::string& folder, bool play, lab::Ticket ticket) {
  SavedSession session = read_session(folder);
  require_memory_for(folder, session);
  std::vector<std::unique_ptr<LabEntry>> loaded, undo, redo, parked;
  for (const SavedSession::Entry& entry : session.runs) loaded.push_back(load_entry(folder, entry));
  for (const SavedSession::Entry& entry : session.stash) {
    auto& list = entry.place == "undo" ? undo : entry.place == "redo" ? redo : parked;
    list.push_back(entry.empty ? nullptr : load_entry(folder, entry));
  }
  std::erase(parked, nullptr);  // only forks may be none
  undo_ = std::move(undo);
  redo_ = std::move(redo);
  parked_ = std::move(parked);
  sidecar_ = std::make_shared<const std::string>(std::move(session.sidecar));
  restored_ = ticket;
  ++generation_;
  earlier_.reset();
  step_ = session.step;
  show(std::move(loaded));
  change_budget(session.budget);
  portion_ = session.portion;
  for (const auto& entry : parked_) entry->born = ++made_;
  for (LabEntry* entry : entries()) entry->born = ++made_;
  playing_ = play && step_ < budget_;
  if (playing_) release_holds();
  target_ = playing_ ? std::numeric_limits<int32_t>::max() : step_;
}

}  // namespace normscope
