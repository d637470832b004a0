// A checkpoint is a RunRecord as a safetensors file.
//
// Tensors: NAME (weights), m/NAME and v/NAME (optimizer state), history/steps, history/losses, history/rates,
// validation/steps, validation/losses, losses (those before a fork included), plateau/window, plateau/blocks, of a run
// with a memory memory/lengths (B) and memory/states (of each layer (B,M,D)),
// and the frames of the history, thinned to a few MB: frames/steps, frames/stats, frames/gone,
// frames/gone_values, frames/gone_steps. Metadata: format, step, data_hash, and as JSON text: origin (the
// specification as [key, value] pairs), edits and scheduled ([step, key, value]), plateau, events, stats (the names
// of a frame's numbers), measured_every (see RunRecord), non_finite. The present specification is not stored: it is
// origin with the edits applied.
//
// Reading is the gate that every checkpoint passes before a network is built: each number is in its range, each list
// has its length, the specification can be built, and no content can send an index out of range or a loop astray.
// Throws Error that names file, field, value and the expected value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/core/error.h"
#include "engine/io/safetensors.h"
#include "engine/tape/store.h"
#include "training/run/run_record.h"
#include "training/spec/spec.h"

namespace normscope {

/// Writes a whole record, atomically. It thins the history's frames to `frame_bytes`.
void write_checkpoint(const RunRecord& record, const std::string& path,
                      size_t frame_bytes = kSavedFrameBytes);

/// Reads the identity from the header, so that SafetensorsFile::load_header() is enough.
RunIdentity read_identity(const SafetensorsFile& file);
/// Reads everything but the blocks of `end`, whose shapes only the network knows; read_weights() puts these into its
/// Store. The history has the stats that the file names, and no frames where the file names none.
RunRecord read_checkpoint(const SafetensorsFile& file);
void read_weights(const SafetensorsFile& file, Store& store);

/// The estimated bytes of the run's largest network, from its origin to its last edit. Throws Error for edits that the
/// run cannot take.
int64_t most_bytes(const RunIdentity& run);

// A model of another program becomes a run by an add-on's ModelFormat, which finds the model at a path, makes a
// specification of it, and fills in its weights where a run starts from them (train.init_from).

struct ModelFormat {
  struct Look {
    bool opens = false;
    Message words;  ///< its kind and the effect of opening it, or why it does not open and what to do
  };
  /// The model at a path; nothing: no model of this format. Reads no weights.
  std::optional<Look> (*look)(const std::string& path);
  /// The one path by which a run names the model, for any path that leads to it; any other path is returned unchanged.
  std::string (*place)(const std::string& path);
  /// A specification that starts with the model's weights. Throws Error.
  RunSpec (*run)(const std::string& path);
  /// Throws Error where fill() would find nothing to read.
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

/// The path by which a run names the weights at a path, see ModelFormat::place.
std::string place_of_weights(const std::string& path);

/// The format that reads the weights at a path; null: they are a file of a saved run. Throws Error for a folder where
/// no format could.
const ModelFormat* format_of_weights(const std::string& path);

}  // namespace normscope
