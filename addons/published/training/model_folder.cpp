#include "addons/published/training/model_folder.h"

#include <cstdlib>
#include <filesystem>

#include "addons/published/training/gguf.h"
#include "addons/published/training/input_kinds.h"
#include "addons/published/training/torch_file.h"
#include "engine/io/input_file.h"
#include "engine/io/safetensors.h"
#include "training/io/text.h"

namespace normscope::published {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr std::string_view kModels = "models--";
constexpr InputKind kRevision{"published", "the name of a snapshot", 1000};

bool is_file(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none);
}
bool is_folder(const fs::path& path) {
  std::error_code none;
  return fs::is_directory(path, none);
}

/// The cache of huggingface_hub, found by the same environment variables.
fs::path cache() {
  const auto set = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string(value ? value : "");
  };
  if (const std::string hub = set("HF_HUB_CACHE"); !hub.empty()) return hub;
  if (const std::string home = set("HF_HOME"); !home.empty()) return fs::path(home) / "hub";
  const std::string caches = set("XDG_CACHE_HOME");
  return (caches.empty() ? fs::path(set("HOME")) / ".cache" : fs::path(caches)) / "huggingface" / "hub";
}

/// The snapshot that refs/main names; of a model that was fetched by a revision, which has none, the newest. Empty: there
/// is none.
fs::path snapshot_in(const fs::path& models) {
  const auto name = read_input_file_if_there((models / "refs" / "main").string(), kRevision);
  const fs::path snapshot = name ? fs::path(trimmed(*name)) : fs::path();
  if (name)
    return snapshot.empty() || snapshot != snapshot.filename() ? fs::path() : models / "snapshots" / snapshot;
  fs::path newest;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(models / "snapshots", none))
    if (newest.empty() || entry.last_write_time(none) > fs::last_write_time(newest, none))
      newest = entry.path();
  return newest;
}

/// The part of an older folder of sentence-transformers that is the model: the first that its modules.json names.
fs::path first_module(const fs::path& folder) try {
  const std::string path = (folder / "modules.json").string();
  const auto json = read_input_file_if_there(path, input::kPublishedConfig);
  if (!json) return {};
  const auto modules = InputValue::parse(*json, {"published {}", path}).list(1, 100);
  const fs::path part = modules.front().at("path").text(1000);
  return part.empty() || part != part.filename() ? fs::path() : folder / part;
} catch (const Error&) {
  return {};  // of another program
}

/// The GGUF file of a folder that has one and no config.json, or the part of it that is the model; else the folder.
fs::path model_in(const fs::path& folder) {
  if (!is_folder(folder) || is_file(folder / kConfig)) return folder;
  if (const fs::path part = first_module(folder); is_file(part / kConfig)) return part;
  fs::path found;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() != ".gguf") continue;
    if (!found.empty()) return folder;
    found = entry.path();
  }
  return found.empty() ? folder : found;
}

/// Whether a file is a part of the published model around it.
bool belongs(const fs::path& file) {
  const std::string name = file.filename().string();
  const bool weights = name.starts_with("model") && name.ends_with(".safetensors"),
             torch = name.starts_with("pytorch_model") &&
                     (name.ends_with(".bin") || name.ends_with(".bin.index.json"));
  return name == kConfig || name == "model.safetensors.index.json" || torch ||
         (weights && !is_saved_run(file));
}

}  // namespace

bool is_saved_run(const fs::path& file) try {
  return SafetensorsFile::load_header(file.string()).metadata("format").starts_with("normscope");
} catch (const Error&) {
  return false;
}

std::string folder_of(const std::string& path) {
  const fs::path at(path), around = at.has_parent_path() ? at.parent_path() : fs::path(".");
  if (is_file(at) && is_file(around / kConfig) && belongs(at)) return around.string();
  fs::path models = at.has_filename() ? at : at.parent_path();  // "models--a--b/"
  std::error_code none;
  if (!path.empty() && !fs::exists(fs::symlink_status(at, none))) {
    std::string name = path;
    replace_each(name, "/", "--");
    models = cache() / (std::string(kModels) + name);
  }
  if (models.filename() == "snapshots") models = models.parent_path();
  if (!models.filename().string().starts_with(kModels) || !is_folder(models)) return model_in(path).string();
  const fs::path snapshot = snapshot_in(models);
  return is_folder(snapshot) ? model_in(snapshot).string() : path;
}

std::string title_of(const std::string& folder) {
  const fs::path at(folder), models = at.parent_path().parent_path();
  const std::string name = models.filename().string();
  if (is_model_file(folder)) return at.stem().string();
  if (at.parent_path().filename() != "snapshots" || !name.starts_with(kModels)) return at.filename().string();
  return name.substr(name.rfind("--") + 2);
}

bool is_model_file(const std::string& path) { return is_gguf_file(path) || is_torch_file(path); }

std::string folder_around(const std::string& place) {
  return is_torch_file(place) ? fs::absolute(place).parent_path().string() : place;
}

std::string config_path(const std::string& folder) {
  const std::string path = (fs::path(folder_around(folder)) / kConfig).string();
  return is_gguf_file(folder) || (is_torch_file(folder) && !is_file(path)) ? folder : path;
}

std::optional<InputValue> config_of(const std::string& folder) {
  const std::string path = config_path(folder);
  if (is_gguf_file(path)) return GgufFile::map(path).config();
  const std::optional<std::string> json = is_torch_file(path)
                                              ? config_of_torch(*InputFile(path, input::kTorch).map(), path)
                                              : read_input_file_if_there(path, input::kPublishedConfig);
  return json && !json->empty() ? std::optional(InputValue::parse(*json, {"published {}", path}))
                                : std::nullopt;
}

Message why_none(const std::string& path) {
  const fs::path folder = folder_of(path);
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found)
    return Message(
        "there is no such folder, and none of this name in {}: expected the folder of a published model, with "
        "config.json and model.safetensors",
        cache().string());
  if (status.type() == fs::file_type::none) return Message("cannot be read ({})", error.message());
  if (is_torch_file(folder.string()) && !config_of(folder.string()))
    return Message(
        "holds weights, and does not say of what model: expected a {} beside it, as save_pretrained(FOLDER) of the "
        "library transformers writes it, or nanoGPT's model_args in it",
        kConfig);
  if (!fs::is_directory(status) || is_file(folder / kConfig)) return {};
  if (is_file(folder / "adapter_config.json"))
    return "is an adapter (LoRA), and no whole model: merge it first, with merge_and_unload() of the library peft, and "
           "save_pretrained(OTHER)";
  if (fs::is_symlink(folder / kConfig))
    return Message(
        "{} is a link to a file that is gone: expected the model fetched again, or copied with its files",
        kConfig);
  return Message("there is no {}: expected the folder of a published model", kConfig);
}

std::string require_folder(const std::string& path) {
  if (const Message why = why_none(path); !why.empty()) fail({"published {}", path}, "{}", why);
  return folder_of(path);
}

}  // namespace normscope::published
