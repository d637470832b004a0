// Finds the folder of a published model by the paths that people have: the folder, a file in it (model.safetensors,
// config.json), a folder models--ORG--NAME in the cache of huggingface_hub, in which refs/main names a snapshot, and
// ORG/NAME for the one in that cache. A GGUF file stands for a folder; one alone in a folder is found there.
#pragma once

#include <optional>
#include <string>

#include "engine/core/error.h"
#include "training/io/input_value.h"

namespace normscope::published {

/// Leaves a path that leads to no such folder as it is.
std::string folder_of(const std::string& path);

/// What the folder is called: NAME of a snapshot in the cache, which has a number as its own name.
std::string title_of(const std::string& folder);

/// Where its settings stand, as it is told in errors: its config.json, or the GGUF file.
std::string config_path(const std::string& folder);
/// These settings; nothing where there is no such file. Throws Error.
std::optional<InputValue> config_of(const std::string& folder);

/// Says what stands at a path in the place of a published model, and what to do; empty where nothing is known
/// against it.
Message why_none(const std::string& path);

/// As folder_of(). Throws Error where why_none() says something.
std::string require_folder(const std::string& path);

}  // namespace normscope::published
