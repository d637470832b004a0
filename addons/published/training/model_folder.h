// Finds the folder of a published model by any of these paths: the folder, a file in it (model.safetensors,
// config.json, pytorch_model.bin), a folder models--ORG--NAME in the cache of huggingface_hub, of which the snapshot that
// refs/main names counts, or else the newest, and ORG/NAME for such a folder. A GGUF file counts as a folder; the only
// one in a folder is found, and the model in an older folder of sentence-transformers. A checkpoint of a training
// (ckpt.pt of nanoGPT, .ckpt of Lightning, torch.save(model)) counts as a folder too.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/core/error.h"
#include "training/io/input_value.h"

namespace normscope::published {

/// Returns `path` itself where it leads to no such folder.
std::string folder_of(const std::string& path);

/// The folder's name; for a snapshot in the cache, which is named by a hash, the model's NAME.
std::string title_of(const std::string& folder);

/// Whether this is a file that counts as a folder: GGUF, or a checkpoint that torch.save wrote.
bool is_model_file(const std::string& path);
/// The folder with the files beside a checkpoint, such as its tokenizer; any other place itself.
std::string folder_around(const std::string& place);

/// The path of its settings, for errors: its config.json, or the file that says them itself.
std::string config_path(const std::string& folder);
/// These settings; nothing where there is no such file. Throws Error.
std::optional<InputValue> config_of(const std::string& folder);

/// Why a path is not a published model, and what is expected; empty where nothing speaks against it.
Message why_none(const std::string& path);

/// Whether a safetensors file is a saved run of ours, and not a published model's.
bool is_saved_run(const std::filesystem::path& file);

/// As folder_of(). Throws Error where why_none() says something.
std::string require_folder(const std::string& path);

}  // namespace normscope::published
