// LabTrainer: a whole session in a folder, one checkpoint a run and session.json that names them.
//
// The checkpoints of a new state get new names; session.json is replaced when they are complete, and only
// then the old ones go: whenever the program ends, by kill -9 too, session.json names a complete state.
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/error.h"
#include "io/atomic_file.h"
#include "train/lab_trainer.h"

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

int64_t generation_in(const fs::path& folder) {
  try {
    return read_session(folder).at("generation").get<int64_t>();
  } catch (const std::exception&) {
    return 0;  // nothing there that could be overwritten
  }
}

// A file name from session.json must stay inside the folder.
std::string checkpoint_of(const fs::path& folder, const Json& run) {
  const std::string name = run.at("file").get<std::string>();
  if (fs::path(name).filename() != name) fail(kWhere, "checkpoint name '{}' leaves the folder", name);
  return (folder / name).string();
}

void remove_others(const fs::path& folder, const Json& session) {
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    if (file.path().extension() != ".safetensors") continue;
    bool used = false;
    for (const Json& run : session["runs"]) used = used || run["file"] == file.path().filename().string();
    if (!used) fs::remove(file.path(), ignored);
  }
}

}  // namespace

void LabTrainer::save(const std::string& folder_name) const {
  if (runs_.empty()) return;
  const fs::path folder = folder_name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(kWhere, "{}: {}", folder_name, error.message());
  const int64_t generation = generation_in(folder) + 1;
  Json session = {{"format", kFormat}, {"generation", generation}, {"step", step_}, {"budget", budget_}};
  Json& list = session["runs"] = Json::array();
  for (const LabEntry* entry : entries()) {
    const std::string name = fmt::format("{}-{}.safetensors", entry->letter, generation);
    entry->run->save((folder / name).string());
    list.push_back({{"letter", std::string(1, entry->letter)},
                    {"file", name},
                    {"forked_from", entry->forked_from},
                    {"fork_step", entry->fork_step},
                    {"fork_note", entry->fork_note},
                    {"hold", entry->hold}});
  }
  const std::string text = session.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  AtomicFile file((folder / "session.json").string(), kWhere);
  file.write(text.data(), text.size());
  file.commit();
  remove_others(folder, session);
}

std::unique_ptr<LabEntry> LabTrainer::load_entry(const std::string& path) {
  auto made = std::make_unique<LabEntry>();
  made->run = Run::load(path, task_for(Run::saved_spec(path).data), *backend_);
  return made;
}

void LabTrainer::restore(const std::string& folder_name, bool play) {
  const fs::path folder = folder_name;
  const Json session = read_session(folder);
  std::vector<std::unique_ptr<LabEntry>> loaded;
  int32_t step = 0, budget = 0;
  try {
    step = session.at("step").get<int32_t>();
    budget = session.at("budget").get<int32_t>();
    for (const Json& run : session.at("runs")) {
      auto entry = load_entry(checkpoint_of(folder, run));
      entry->letter = run.at("letter").get<std::string>().at(0);
      entry->forked_from = run.at("forked_from").get<int32_t>();
      entry->fork_step = run.at("fork_step").get<int32_t>();
      entry->fork_note = run.at("fork_note").get<std::string>();
      entry->hold = run.value("hold", -1);
      loaded.push_back(std::move(entry));
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {  // a field is missing or of another type
    fail(kWhere, "{}/session.json is damaged", folder_name);
  }
  if (loaded.empty() || loaded.size() > 4 || step < 0 || budget < 1)
    fail(kWhere, "{}/session.json is damaged: {} runs at step {} of {}", folder_name, loaded.size(), step,
         budget);
  fork_.reset();
  undo_.clear();
  redo_.clear();
  parked_.clear();
  runs_ = std::move(loaded);
  if (runs_.back()->letter == 'D' && runs_.size() > 1) {
    fork_ = std::move(runs_.back());
    runs_.pop_back();
  }
  step_ = step;
  set_budget(budget);
  writing_ = 0;
  text_credit_ = 0;
  next_step_ = {};
  seconds_per_step_ = tokens_per_second_ = 0;
  share_memory();
  playing_ = play && step_ < budget_;
  if (playing_) release_holds();
  target_ = playing_ ? std::numeric_limits<int32_t>::max() : step_;
}

}  // namespace normscope
