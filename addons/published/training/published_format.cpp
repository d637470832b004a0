// PublishedModel models among the formats that a run may start from.
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "addons/published/training/model_folder.h"
#include "addons/published/training/published.h"
#include "addons/published/training/published_run.h"
#include "training/run/model_formats.h"

namespace normscope {
namespace {

namespace fs = std::filesystem;

std::optional<ModelFormat::Look> look_at_published(const std::string& path) {
  if (published::is_published(path))
    return ModelFormat::Look{
        true,
        "A published model: it takes the place of all runs that are shown, and nothing trains "
        "until you say so."};
  std::error_code none;
  if (!fs::exists(fs::path(path) / "adapter_config.json", none)) return std::nullopt;
  const std::string name = fs::path(path).filename().string();
  return ModelFormat::Look{false,
                           fmt::format("{} {}.", name.empty() ? path : name, published::why_none(path))};
}

}  // namespace

constinit const ModelFormat kPublishedFormat{
    .look = look_at_published,
    .place = published::folder_of,
    .run = [](const std::string& path) { return published::run_of(path); },
    .check = [](const std::string& path) { published::open(path, published::kFewest); },
    .fill = [](const std::string& path,
               Store& store) { return published::fill(published::open(path, published::kFewest), store); }};

}  // namespace normscope
