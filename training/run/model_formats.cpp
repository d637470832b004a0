#include "training/run/model_formats.h"

#include <filesystem>
#include <initializer_list>

namespace normscope {

namespace {

constexpr std::initializer_list<const ModelFormat*> kFormats = {
#define MODEL_FORMAT(format) &format,
#include "chosen/model_formats.def"
#undef MODEL_FORMAT
};

}  // namespace

const ModelFormat* format_of_model(const std::string& path) {
  for (const ModelFormat* format : kFormats)
    if (const auto look = format->look(path); look && look->opens) return format;
  return nullptr;
}

std::optional<ModelFormat::Look> look_at_model(const std::string& path) {
  for (const ModelFormat* format : kFormats)
    if (auto look = format->look(path)) return look;
  return std::nullopt;
}

std::string place_of_weights(const std::string& path) {
  for (const ModelFormat* format : kFormats)
    if (std::string place = format->place(path); place != path) return place;
  return path;
}

// A folder that no format knows goes to the first, which says what is missing there.
const ModelFormat* format_of_weights(const std::string& path) {
  if (const ModelFormat* format = format_of_model(path)) return format;
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return nullptr;
  if (!std::empty(kFormats)) return *kFormats.begin();
  fail("train.init_from", "{} is a folder: expected the file of a saved run", path);
}

}  // namespace normscope
