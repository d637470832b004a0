#include "addons/compare/app/from_records.h"

#include <algorithm>
#include <filesystem>

namespace normscope::compare {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

Settings settings_of(const records::RecordedRun& run) {
  Settings settings = run.settings;
  const auto is = [](const char* key) { return [key](const auto& setting) { return setting.first == key; }; };
  if (!run.placement.empty() && std::none_of(settings.begin(), settings.end(), is("model.placement")))
    settings.emplace_back("model.placement", run.placement);
  std::erase_if(settings, is("run.seed"));
  return settings;
}

bool is_seed_of(const records::RecordedRun& run, const Settings& settings, const records::RecordedRun& first,
                const Compared& known) {
  return run.path == first.path && run.letter == first.letter && run.name == known.name &&
         run.edits == known.edits && settings == known.settings && run.seed != 0 &&
         std::none_of(known.seeds.begin(), known.seeds.end(),
                      [&](const OneSeed& seed) { return seed.seed == run.seed || seed.seed == 0; });
}

}  // namespace

std::vector<Compared> compared_from(std::span<const records::RecordedRun> runs) {
  std::vector<Compared> result;
  std::vector<const records::RecordedRun*> firsts;
  for (const records::RecordedRun& run : runs) {
    Settings settings = settings_of(run);
    size_t place = 0;
    while (place < result.size() && !is_seed_of(run, settings, *firsts[place], result[place])) ++place;
    if (place == result.size()) {
      Compared& one = result.emplace_back();
      static_cast<records::AboutRun&>(one) = run;
      one.source = std::filesystem::path(run.path).filename().string();
      one.settings = std::move(settings);
      // A run with settings of ours was trained by us. A log says with which version, a saved run does not.
      if (run.spec) one.maker = "normscope";
      firsts.push_back(&run);
    }
    result[place].seeds.push_back(run);
  }
  return result;
}

}  // namespace normscope::compare
