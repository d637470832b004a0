// The session of lab_session.h lives in a folder. LabTrainer's side of it, image and restore, is here too.
#include "training/session/lab_session.h"

#include <filesystem>
#include <limits>
#include <set>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "training/io/atomic_file.h"
#include "training/io/input_file.h"
#include "training/io/input_value.h"
#include "training/io/safetensors.h"
#include "training/run/saved_run.h"
#include "training/session/lab_trainer.h"
#include "training/spec/codec.h"
#include "training/spec/limits.h"

namespace normscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "normscope session 1";
constexpr const char* kSession = "session";

constexpr size_t kMostStashed = 64, kMostKeyframes = 64;
constexpr size_t kLongestName = 255, kLongestSidecar = 32'000'000;
constexpr std::string_view kLetters[] = {"A", "B", "C", "D"};
constexpr std::string_view kPlaces[] = {"run", "undo", "redo", "parked"};
constexpr std::string_view kFormats[] = {kFormat};

/// The name of a file in the session's own folder.
struct FileName {
  codec::Json write(const std::string& name) const { return name; }
  void read(const InputValue& json, std::string& name) const {
    name = json.text(kLongestName);
    const bool plain = name.ends_with(".safetensors") && name.find_first_of("/\\") == name.npos &&
                       name.find('\0') == name.npos;
    if (!plain) json.refuse("the name of a safetensors file in the session's folder");
  }
};

/// What the app keeps, as an object where it is one.
struct SidecarText {
  codec::Json write(const std::string& text) const {
    codec::Json json = codec::Json::parse(text, nullptr, false);
    return json.is_object() ? std::move(json) : codec::Json(text);
  }
  void read(const InputValue& json, std::string& text) const {
    text = json.is_object() ? json.object_text(kLongestSidecar) : json.text(kLongestSidecar);
  }
};

}  // namespace

template <class Io>
void io(Io& io, codec::Of<Io, SavedSession::Entry>& e) {
  constexpr codec::Text kText{kLongestText};
  constexpr codec::Whole kStep{0, kMostSteps};
  io.optional("place", e.place, codec::Words{kPlaces}, "run");
  io.optional("empty", e.empty);
  if (e.empty) return;
  io("letter", e.letter, codec::Words{kLetters});
  io("file", e.file, FileName{});
  io("forked_from", e.forked_from, codec::Whole{-1, kMostRuns - 1});
  io("fork_step", e.fork_step, kStep);
  io("fork_note", e.fork_note, kText);
  io.optional("score", e.score, kText);
  io.optional("unscored", e.unscored);
  io.optional("hold", e.hold, codec::Whole{-1, kMostSteps}, -1);
  io.optional("keyframes", e.keyframes, codec::List{0, kMostKeyframes, FileName{}});
}

namespace {

/// The runs that are shown.
struct ShownRuns {
  static constexpr codec::List kRuns{1, kMostRuns, codec::Object{}};
  codec::Json write(const std::vector<SavedSession::Entry>& runs) const { return kRuns.write(runs); }
  void read(const InputValue& json, std::vector<SavedSession::Entry>& runs) const {
    kRuns.read(json, runs);
    std::set<char> letters;
    for (size_t i = 0; i < runs.size(); ++i) {
      const InputValue item = json.list(1, kMostRuns)[i];
      if (runs[i].empty) item.at("empty").refuse("false: a run that is shown");
      if (!letters.insert(runs[i].letter).second)
        item.at("letter").refuse("another letter than that of the runs before");
    }
  }
};

}  // namespace

template <class Io>
void io(Io& io, codec::Of<Io, SavedSession>& s) {
  std::string format = kFormat;
  io("format", format, codec::Words{kFormats});
  io.optional("generation", s.generation, codec::Whole{0, int64_t{1} << 53});
  io("step", s.step, codec::Whole{0, kMostSteps});
  io("budget", s.budget, codec::Whole{1, kMostSteps});
  io.optional("portion", s.portion, codec::Whole{1, kMostSteps}, s.budget);
  io.optional("sidecar", s.sidecar, SidecarText{});
  io("runs", s.runs, ShownRuns{});
  io.optional("stash", s.stash, codec::List{0, kMostStashed, codec::Object{}});
}

namespace {

SavedSession read_session(const std::string& folder) {
  const std::string path = (fs::path(folder) / "session.json").string();
  return parse_session(read_input_file(path, input::kSession), path);
}

/// Lists the files that a session names in its folder; none where there is no readable session.
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
  return codec::read<SavedSession>(InputValue::parse(json, fmt::format("{} {}", kSession, name)));
}

int64_t session_generation(const std::string& folder) {
  try {
    return read_session(folder).generation;
  } catch (const std::exception&) {
    return 0;  // the folder has nothing to overwrite
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
  SavedSession saved{image, {}, {}};
  for (const SessionImage::Entry& entry : image.entries) {
    auto& item = (entry.place == "run" ? saved.runs : saved.stash).emplace_back(entry);
    if (entry.empty) continue;
    written_.insert(entry.file);
    if (entry.image) entry.image->write((folder / entry.file).string());
    used.insert(entry.file);
    for (const auto& frame : entry.frames) item.keyframes.push_back(keyframe_file(entry, frame));
  }
  const std::string text = codec::text_of(codec::write(saved), 1) + "\n";
  write_file((folder / "session.json").string(), text, kSession, Access::Own);
  std::error_code ignored;
  for (const std::string& name : written_)
    if (!used.contains(name)) fs::remove(folder / name, ignored);
  written_ = used;
  // A keyframe that was left out has lost its file, so it has to be written again when it is needed.
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
    const SessionImage& image = *image_;  // nobody else touches the image while the Autosaver is busy
    lock.unlock();
    std::string error = guarded("autosave", [&] { writer_.write(image); });
    lock.lock();
    error_ = std::move(error);
    image_.reset();
  }
}

// Identifies the state that a file was written from: any change of the run changes it.
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
    static_cast<KeptEntry&>(out) = *entry;
    out.frames = entry->run->lasting_keyframes();
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

// Writes to a folder of the user's own: the whole session, and it remembers nothing of it.
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
  static_cast<KeptEntry&>(*made) = entry;
  std::vector<std::shared_ptr<const Keyframe>> keyframes;
  for (const std::string& name : entry.keyframes) {
    // A missing keyframe is skipped, because keyframes only make replays shorter.
    std::error_code error;
    if (fs::exists(inside(name), error)) keyframes.push_back(read_keyframe(inside(name)));
  }
  made->run->restore_keyframes(std::move(keyframes));
  return made;
}

// Checks all runs together before the first network is built; it reads the header of each file.
void LabTrainer::require_bytes_for(const std::string& folder, const SavedSession& session) {
  int64_t bytes = 0;
  for (const auto* entries : {&session.runs, &session.stash})
    for (const SavedSession::Entry& entry : *entries)
      if (!entry.empty)
        bytes +=
            read_saved_header(SafetensorsFile::load_header((fs::path(folder) / entry.file).string())).bytes;
  require_bytes(fmt::format("{} {}", kSession, folder), bytes);
}

void LabTrainer::restore(const std::string& folder, bool play, session::Ticket ticket) {
  SavedSession session = read_session(folder);
  require_bytes_for(folder, session);
  std::vector<std::unique_ptr<LabEntry>> loaded, undo, redo, parked;
  for (const SavedSession::Entry& entry : session.runs) loaded.push_back(load_entry(folder, entry));
  for (const SavedSession::Entry& entry : session.stash) {
    auto& list = entry.place == "undo" ? undo : entry.place == "redo" ? redo : parked;
    list.push_back(entry.empty ? nullptr : load_entry(folder, entry));
  }
  std::erase(parked, nullptr);  // only forks may be null
  undo_ = std::move(undo);
  redo_ = std::move(redo);
  parked_ = std::move(parked);
  sidecar_ = std::make_shared<const std::string>(std::move(session.sidecar));
  restored_ = ticket;
  ++generation_;
  earlier_.reset();
  step_ = session.step;
  show(std::move(loaded));
  budget_ = session.budget;
  portion_ = session.portion;
  for (const auto& entry : parked_) entry->born = ++made_;
  for (LabEntry* entry : entries()) entry->born = ++made_;
  playing_ = play && step_ < budget_;
  if (playing_) release_holds();
  target_ = playing_ ? std::numeric_limits<int32_t>::max() : step_;
}

}  // namespace normscope
