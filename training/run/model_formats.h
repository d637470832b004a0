// A model that another program made becomes a run: an add-on has a ModelFormat, which finds the model at a path, makes a
// specification of it, and fills its weights in where a run starts from them (train.init_from).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/core/error.h"
#include "engine/tape/store.h"
#include "training/spec/spec.h"

namespace normscope {

struct ModelFormat {
  struct Look {
    bool opens = false;
    Message words;  ///< its kind and the effect of opening it, or why it does not open and what to do
  };
  /// The model at a path; nothing: no model of this format. Reads no weights.
  std::optional<Look> (*look)(const std::string& path);
  /// The path by which a run keeps it, of those that lead to it; any other path stays as it is.
  std::string (*place)(const std::string& path);
  /// A run of it at rest. Throws Error.
  RunSpec (*run)(const std::string& path);
  /// Throws Error where fill() could read nothing.
  void (*check)(const std::string& path);
  /// Fills in the parameters that fit, and returns how many do. Throws Error, and leaves the Store as it was.
  int32_t (*fill)(const std::string& path, Store& store);
};

#define MODEL_FORMAT(format) extern const ModelFormat format;
#include "chosen/model_formats.def"
#undef MODEL_FORMAT

/// The format whose model opens at this path; null: none.
const ModelFormat* format_of_model(const std::string& path);

/// The first format's answer for this path; nothing: no format knows it.
std::optional<ModelFormat::Look> look_at_model(const std::string& path);

/// The path by which a run keeps the weights that a path leads to.
std::string place_of_weights(const std::string& path);

/// The format that reads the weights at a path; null: they are a file of a saved run. Throws Error for a folder where no
/// format could.
const ModelFormat* format_of_weights(const std::string& path);

}  // namespace normscope
