#include "addons/compare/app/screen/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>

#include "addons/compare/app/comparison.h"
#include "app/words/words.h"

namespace normscope::compare_screen {
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
  const auto known = std::find_if(files_.begin(), files_.end(),
                                  [&](const auto& file) { return file->source->path() == path; });
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
    return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& other) {
      return &other != &slot && other.file && other.letter == wanted;
    });
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
    return std::none_of(slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.file == file; });
  });
  for (const std::shared_ptr<File>& file : files_) {
    std::shared_ptr<const records::FollowedNow> now = file->source->now();
    if (now == file->now) continue;
    file->now = std::move(now);
    file->runs = compared_from(file->now->file.runs);
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
    if (!slot.file) continue;
    place.path = slot.file->source->path();
    place.recorded = slot.run < slot.file->runs.size();
    if (slot.file->now) place.fault = words::error(slot.file->now->error);
    place.reading = !place.recorded && place.fault.empty();
  }
  return result;
}

std::vector<Compared> SideBySide::runs(const LabView& view, bool clock) {
  std::vector<Compared> result;
  const std::array<Place, kMost> all = places(view);
  for (size_t i = 0; i < kMost; ++i) {
    if (all[i].live) {
      if (std::optional<Compared> run = live_.take(view, all[i].letter, clock))
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
