#include "addons/compare/app/screen/kept_choice.h"

#include <fmt/format.h>

#include "addons/compare/app/comparison.h"
#include "app/link/screen_settings.h"
#include "training/spec/spec_text.h"

namespace normscope::compare_screen {
namespace {

constexpr char kLastLive = 'D', kLast = 'H';

/// Reads "2:0:E:/home/me/run.jsonl": the place, the run of the file, its letter or '-', the path.
void take_file(const link::ScreenSettingsReader& reader, std::string_view value,
               std::vector<KeptFile>& files) {
  std::string_view parts[3], rest = value;
  for (std::string_view& part : parts) {
    part = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  int64_t place = 0, run = 0;
  const char letter = parts[2].size() == 1 ? parts[2][0] : 0;
  if (!parse_integer(parts[0], place) || place < 0 || place >= static_cast<int64_t>(compare::kMost) ||
      !parse_integer(parts[1], run) || run < 0 || run > 999 ||
      (letter != '-' && !(letter > kLastLive && letter <= kLast)))
    reader.refuse("file", value, "PLACE:RUN:LETTER:PATH");
  if (files.size() <= static_cast<size_t>(place)) files.resize(static_cast<size_t>(place) + 1);
  files[static_cast<size_t>(place)] = {std::string(rest), static_cast<size_t>(run),
                                       letter == '-' ? char{} : letter};
}

KeptChoice read(const ScreenSettings& settings, bool of_link) {
  KeptChoice choice;
  link::ScreenSettingsReader reader(Screen::Compare, settings);
  if (const auto letter = reader.text("baseline")) {
    const char last = of_link ? kLastLive : kLast;
    if (letter->size() != 1 || (*letter)[0] < 'A' || (*letter)[0] > last)
      reader.refuse("baseline", *letter, fmt::format("a letter from A to {}", last));
    choice.baseline = (*letter)[0];
  }
  choice.align = reader.whole("align", 0, 2, choice.align);
  choice.matrix = reader.whole("matrix", 0, 5, choice.matrix);
  if (const auto id = reader.text("metric")) {
    const auto& all = panels::metrics();
    const auto one = std::find_if(all.begin(), all.end(), [&](const auto& info) { return info.id == *id; });
    if (one == all.end()) reader.refuse("metric", *id, "a quantity of the Compare screen");
    choice.metric = one->metric;
  }
  choice.factor = reader.real("factor", 1.01, 1e6, choice.factor);
  if (!of_link)
    for (const std::string& file : reader.all("file")) take_file(reader, file, choice.files);
  reader.done();
  return choice;
}

}  // namespace

ScreenSettings settings_of(const KeptChoice& choice) {
  const KeptChoice usual;
  ScreenSettings settings;
  settings.emplace_back("baseline", std::string(1, choice.baseline));
  if (choice.align != usual.align) settings.emplace_back("align", std::to_string(choice.align));
  if (choice.matrix != usual.matrix) settings.emplace_back("matrix", std::to_string(choice.matrix));
  if (choice.metric != usual.metric) settings.emplace_back("metric", panels::info(choice.metric).id);
  if (choice.factor != usual.factor) settings.emplace_back("factor", fmt::format("{}", choice.factor));
  for (size_t i = 0; i < choice.files.size(); ++i)
    if (const KeptFile& file = choice.files[i]; !file.path.empty())
      settings.emplace_back(
          "file", fmt::format("{}:{}:{}:{}", i, file.run, file.letter ? file.letter : '-', file.path));
  return settings;
}

KeptChoice choice_from(const ScreenSettings& settings) { return read(settings, false); }

void check_link(const ScreenSettings& settings) { read(settings, true); }

}  // namespace normscope::compare_screen
