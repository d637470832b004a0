// The parameters of a Store as a safetensors file, and back: save() and load().
//
// Tensors: NAME, and the optimizer's moments m/NAME and v/NAME. Metadata: format, and steps, which Adam's next step needs.
// A run's checkpoint (training/run/checkpoint.h) has the same tensors beside its own, so load() reads it, too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/tape/store.h"

namespace normscope {

class SafetensorsFile;
class SafetensorsWriter;

struct SaveOptions {
  bool optimizer = true;                                        ///< the moments too, where the Store has some
  std::vector<std::pair<std::string, std::string>> metadata{};  ///< of your own
};

/// Writes the file atomically. Throws Error, and a former file is then untouched.
void save(const Store& store, const std::string& path, const SaveOptions& options = {});

struct LoadOptions {
  bool optimizer = true;  ///< the moments and the number of steps too, where the file has some
  bool partial = false;   ///< reads what fits, where something is missing or has another shape
};

struct LoadReport {
  std::vector<std::string> missing;      ///< what the Store has and the file has not
  std::vector<std::string> other_shape;  ///< what both have, in different shapes
  std::vector<std::string> unused;       ///< what the file has and the Store has not
  bool optimizer = false;                ///< whether moments were read
  int64_t steps = 0;                     ///< Store::steps() afterwards
};

/// Fills a Store from a file, and gives it memory where it has none. Whatever is not read stays as it was. Everything is
/// checked before anything is written: after an Error the Store is as it was.
LoadReport load(Store& store, const std::string& path, const LoadOptions& options = {});
LoadReport load(Store& store, const SafetensorsFile& file, const LoadOptions& options = {});

/// Adds the tensors of a Store's parameters to a file that has more: `blocks` are its values, or values, m and v, as a
/// whole (Store::block), and live until the file is written.
void add_parameters(SafetensorsWriter& file, const std::vector<ParameterInfo>& parameters,
                    std::span<const std::vector<float>> blocks);

}  // namespace normscope
