#include "addons/compare/app/screen/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/link/screen_settings.h"
#include "app/view/lab_data.h"
#include "app/words/words.h"
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
      reader.refuse("baseline", *letter, Message("a letter from A to {}", last));
    choice.baseline = (*letter)[0];
  }
  choice.align = reader.whole("align", 0, 2, choice.align);
  choice.matrix = reader.whole("matrix", 0, 5, choice.matrix);
  if (const auto id = reader.text("metric")) {
    const auto& all = panels::metrics();
    const auto one = std::ranges::find_if(all, [&](const auto& info) { return info.id == *id; });
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

using namespace compare;
namespace {

char letter_at(size_t place) { return static_cast<char>('A' + place); }

constexpr size_t kLive = 4;  // places of runs of the session

bool is_live(const LabView& view, size_t place) { return !live_key(view, letter_at(place)).empty(); }

}  // namespace

/// Leaves the places of the session's runs for last, where it has any: a fork is to find its own free.
size_t SideBySide::free_place(const LabView& view) const {
  const size_t first = view.runs.empty() ? 0 : kLive;
  for (size_t i = 0; i < kMost; ++i)
    if (const size_t at = (first + i) % kMost; !slots_[at].file && (slots_[at].hidden || !is_live(view, at)))
      return at;
  return kMost;
}

std::shared_ptr<SideBySide::File> SideBySide::file_of(const std::string& path) {
  const auto known =
      std::ranges::find_if(files_, [&](const auto& file) { return file->source->path() == path; });
  if (known != files_.end()) return *known;
  auto file = std::make_shared<File>();
  file->source = std::make_unique<records::FollowedFile>(path, wake_);
  files_.push_back(file);
  return file;
}

/// Lets a place keep its recorded run's letter, which is the place's own unless a run kept from before has that.
void SideBySide::fill(size_t place, const std::shared_ptr<File>& file, size_t run, char letter) {
  Slot& slot = slots_[place];
  if (letter == 0) letter = slot.letter;
  const auto taken = [&](char wanted) {
    return std::ranges::any_of(
        slots_, [&](const Slot& other) { return &other != &slot && other.file && other.letter == wanted; });
  };
  if (letter == 0) letter = letter_at(place);
  for (size_t next = 0; taken(letter) && next < kMost; ++next) letter = letter_at((kLive + next) % kMost);
  slot = {file, run, slot.hidden, letter};
}

bool SideBySide::open(const std::string& path, const LabView& view, std::optional<size_t> place) {
  size_t at = place.value_or(kMost);
  // A file that is open already stays where it is.
  for (size_t i = 0; at == kMost && i < kMost; ++i)
    if (slots_[i].file && slots_[i].file->source->path() == path) at = i;
  if (at == kMost) at = free_place(view);
  if (at == kMost) return false;
  const std::shared_ptr<File> file = file_of(path);
  if (slots_[at].file != file) fill(at, file, 0);
  update(view);
  return true;
}

void SideBySide::leave_out(size_t place) {
  Slot& slot = slots_[place];
  slot = {nullptr, 0, !slot.file, 0};
}

void SideBySide::bring_back(size_t place) { slots_[place] = {}; }

void SideBySide::put(size_t place, const std::string& path, size_t run, char letter) {
  fill(place, file_of(path), run, letter);
  slots_[place].file->handed_out = true;
}

void SideBySide::hand_out(const std::shared_ptr<File>& file, const LabView& view) {
  if (file->handed_out || file->runs.empty()) return;
  file->handed_out = true;
  for (size_t run = 1; run < file->runs.size(); ++run)
    if (const size_t at = free_place(view); at < kMost) fill(at, file, run);
}

void SideBySide::update(const LabView& view) {
  std::erase_if(files_, [&](const auto& file) {
    return std::ranges::none_of(slots_, [&](const Slot& slot) { return slot.file == file; });
  });
  for (const std::shared_ptr<File>& file : files_) {
    std::shared_ptr<const records::FollowedNow> now = file->source->now();
    if (now == file->now) continue;
    file->now = std::move(now);
    file->runs = grouped(file->now->file.runs);
    hand_out(file, view);
  }
}

std::array<SideBySide::Place, kMost> SideBySide::places(const LabView& view) const {
  std::array<Place, kMost> result;
  for (size_t i = 0; i < kMost; ++i) {
    const Slot& slot = slots_[i];
    Place& place = result[i];
    place.number = i;
    place.letter = slot.file ? slot.letter : letter_at(i);
    place.live = !slot.file && !slot.hidden && is_live(view, i);
    if (place.live) place.name = view.runs[static_cast<size_t>(view::find_run(view, place.letter))].name;
    if (!slot.file) continue;
    place.path = slot.file->source->path();
    place.recorded = slot.run < slot.file->runs.size();
    if (place.recorded) place.name = slot.file->runs[slot.run].name;
    if (slot.file->now) place.fault = words::spoken(slot.file->now->error);
    place.reading = !slot.file->now || slot.file->now->version == 0;
  }
  return result;
}

std::vector<Recording> SideBySide::runs(const LabView& view, bool clock) {
  std::vector<Recording> result;
  const std::array<Place, kMost> all = places(view);
  for (size_t i = 0; i < kMost; ++i) {
    if (all[i].live) {
      if (std::optional<Recording> run = live_.take(view, all[i].letter, clock))
        result.push_back(std::move(*run));
    } else if (all[i].recorded) {
      result.push_back(slots_[i].file->runs[slots_[i].run]);
      result.back().letter = all[i].letter;
    }
  }
  return result;
}

std::string SideBySide::key(const LabView& view) const {
  std::string key;
  const std::array<Place, kMost> all = places(view);
  for (size_t i = 0; i < kMost; ++i) {
    const Slot& slot = slots_[i];
    key += '|';
    if (all[i].live)
      key += live_key(view, all[i].letter);
    else if (all[i].recorded)
      key += fmt::format("{} {} {} {}", slot.letter, all[i].path, slot.run, slot.file->now->version);
  }
  return key;
}

std::vector<SideBySide::Choice> SideBySide::choices() const {
  std::vector<Choice> result;
  for (const std::shared_ptr<File>& file : files_)
    for (size_t run = 0; run < file->runs.size(); ++run)
      result.push_back({file->source->path(), file->runs[run].name, run});
  return result;
}

std::vector<KeptFile> SideBySide::kept() const {
  std::vector<KeptFile> result(kMost);
  for (size_t i = 0; i < kMost; ++i)
    if (slots_[i].file) result[i] = {slots_[i].file->source->path(), slots_[i].run, slots_[i].letter};
  return result;
}

}  // namespace normscope::compare_screen
