// A session in a folder: see lab_session.h. Here also LabTrainer's side of it, image and restore.
#include "engine/train/lab_session.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/train/lab_trainer.h"

namespace normscope {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kFormat = "normscope session 1";
constexpr const char* kWhere = "session";

Json read_session(const fs::path& folder) {
  const fs::path path = folder / "session.json";
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(kWhere, "{} cannot be read", path.string());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    Json json = Json::parse(text);
    if (json.at("format").get<std::string>() != kFormat)
      fail(kWhere, "{} is no saved session", path.string());
    return json;
  } catch (const Json::exception&) {
    fail(kWhere, "{} is damaged", path.string());
  }
}

// A file name from session.json must stay inside the folder.
std::string inside(const fs::path& folder, const std::string& name) {
  if (fs::path(name).filename() != name) fail(kWhere, "checkpoint name '{}' leaves the folder", name);
  return (folder / name).string();
}

void remove_others(const fs::path& folder, const std::set<std::string>& used) {
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored))
    if (file.path().extension() == ".safetensors" && !used.contains(file.path().filename().string()))
      fs::remove(file.path(), ignored);
}

}  // namespace

int64_t session_generation(const std::string& folder) {
  try {
    return read_session(folder).at("generation").get<int64_t>();
  } catch (const std::exception&) {
    return 0;  // nothing there that could be overwritten
  }
}

void SessionWriter::write(const SessionImage& image) {
  const fs::path folder = folder_;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(kWhere, "{}: {}", folder_, error.message());
  std::set<std::string> used;
  std::erase_if(keyframes_, [](const auto& known) { return known.first.expired(); });
  const auto keyframe_file = [&](const SessionImage::Entry& entry, const auto& frame) {
    auto known = keyframes_.find(frame);
    if (known == keyframes_.end()) {
      const std::string name =
          fmt::format("{}-step{}-{}.safetensors", entry.letter, frame->step, image.generation);
      const std::string own = used.contains(name) ? fmt::format("{}-{}", used.size(), name) : name;
      write_keyframe(*frame, (folder / own).string());
      known = keyframes_.emplace(frame, own).first;
    }
    used.insert(known->second);
    return known->second;
  };
  Json session = {{"format", kFormat},
                  {"generation", image.generation},
                  {"step", image.step},
                  {"budget", image.budget},
                  {"companion", image.companion}};
  Json &runs = session["runs"] = Json::array(), &aside = session["aside"] = Json::array();
  for (const SessionImage::Entry& entry : image.entries) {
    Json item = {{"place", entry.place}, {"empty", entry.empty}};
    if (!entry.empty) {
      if (entry.image) entry.image->write((folder / entry.file).string());
      used.insert(entry.file);
      item.update({{"letter", std::string(1, entry.letter)},
                   {"file", entry.file},
                   {"forked_from", entry.forked_from},
                   {"fork_step", entry.fork_step},
                   {"fork_note", entry.fork_note},
                   {"hold", entry.hold}});
      Json& keyframes = item["keyframes"] = Json::array();
      for (const auto& frame : entry.keyframes) keyframes.push_back(keyframe_file(entry, frame));
    }
    (entry.place == "run" ? runs : aside).push_back(std::move(item));
  }
  const std::string text = session.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  AtomicFile file((folder / "session.json").string(), kWhere);
  file.write(text.data(), text.size());
  file.commit();
  remove_others(folder, used);
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
  return run.history()->version() * 1000003 + run.edits().size() * 1009 + run.scheduled().size() + 1;
}

SessionImage LabTrainer::image(int64_t generation, bool whole) {
  SessionImage image;
  image.step = step_, image.budget = budget_, image.generation = generation;
  std::set<std::string> names;
  const auto add = [&](const char* place, LabEntry* entry) {
    SessionImage::Entry& out = image.entries.emplace_back();
    out.place = place, out.empty = !entry;
    if (!entry) return;
    out.letter = entry->letter, out.forked_from = entry->forked_from, out.fork_step = entry->fork_step;
    out.hold = entry->hold, out.fork_note = entry->fork_note;
    out.keyframes = entry->run->lasting_keyframes();
    const uint64_t stamp = stamp_of(*entry->run);
    if (!whole && entry->file_stamp == stamp) {
      out.file = entry->file;
    } else {
      out.file = fmt::format("{}-{}.safetensors", entry->letter, generation);
      for (int i = 2; names.contains(out.file); ++i)
        out.file = fmt::format("{}-{}-{}.safetensors", entry->letter, generation, i);
      out.image = entry->run->image();
      entry->file = out.file, entry->file_stamp = stamp;
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
void LabTrainer::save(const std::string& folder, std::string companion) {
  if (runs_.empty()) return;
  SessionImage whole = image(session_generation(folder) + 1, true);
  for (LabEntry* entry : kept()) entry->file_stamp = 0;
  whole.companion = std::move(companion);
  SessionWriter(folder).write(whole);
}

std::unique_ptr<LabEntry> LabTrainer::load_entry(const std::string& folder, const nlohmann::json& item) {
  auto made = std::make_unique<LabEntry>();
  const std::string path = inside(folder, item.at("file").get<std::string>());
  made->run = Run::load(path, task_for(Run::saved_spec(path).data), *backend_);
  made->letter = item.at("letter").get<std::string>().at(0);
  made->forked_from = item.at("forked_from").get<int32_t>();
  made->fork_step = item.at("fork_step").get<int32_t>();
  made->fork_note = item.at("fork_note").get<std::string>();
  made->hold = item.value("hold", -1);
  std::vector<std::shared_ptr<const Keyframe>> keyframes;
  for (const Json& file : item.value("keyframes", Json::array())) {
    const std::string name = inside(folder, file.get<std::string>());
    // They only make replays shorter: one that is gone is done without.
    if (fs::exists(name)) keyframes.push_back(read_keyframe(name));
  }
  made->run->restore_keyframes(std::move(keyframes));
  return made;
}

void LabTrainer::restore(const std::string& folder_name, bool play) {
  const fs::path folder = folder_name;
  const Json session = read_session(folder);
  std::vector<std::unique_ptr<LabEntry>> loaded, undo, redo, parked;
  int32_t step = 0, budget = 0;
  std::string companion;
  try {
    step = session.at("step").get<int32_t>();
    budget = session.at("budget").get<int32_t>();
    companion = session.value("companion", "");
    for (const Json& run : session.at("runs")) loaded.push_back(load_entry(folder_name, run));
    for (const Json& item : session.value("aside", Json::array())) {
      const std::string place = item.at("place").get<std::string>();
      auto& list = place == "undo" ? undo : place == "redo" ? redo : parked;
      list.push_back(item.at("empty").get<bool>() ? nullptr : load_entry(folder_name, item));
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {  // a field is missing or of another type
    fail(kWhere, "{}/session.json is damaged", folder_name);
  }
  std::erase(parked, nullptr);  // only forks may be none
  if (loaded.empty() || loaded.size() > 4 || step < 0 || budget < 1)
    fail(kWhere, "{}/session.json is damaged: {} runs at step {} of {}", folder_name, loaded.size(), step,
         budget);
  undo_ = std::move(undo), redo_ = std::move(redo), parked_ = std::move(parked);
  companion_ = std::make_shared<const std::string>(std::move(companion));
  ++restored_;
  step_ = step;
  const bool with_fork = loaded.back()->letter == 'D' && loaded.size() > 1;
  show(std::move(loaded), with_fork);
  set_budget(budget);
  playing_ = play && step_ < budget_;
  if (playing_) release_holds();
  target_ = playing_ ? std::numeric_limits<int32_t>::max() : step_;
}

}  // namespace normscope
