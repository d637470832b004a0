// The writing half of link.h; this file also says what a link needs beside itself.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "app/link/link.h"
#include "app/link/link_screens.h"
#include "app/link/link_text.h"
#include "app/link/percent.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/files/command_text.h"
#include "training/io/text.h"

namespace normscope::link {

namespace {

using Needs = std::vector<std::pair<std::string, std::string>>;

void add_need(Needs& needs, std::string_view key, const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  name.resize(std::min(name.size(), kLongestName));
  std::pair<std::string, std::string> need(key, std::move(name));
  if (!need.second.empty() && std::ranges::find(needs, need) == needs.end()) needs.push_back(std::move(need));
}

// Empties fields that name files. That may choose another task (data.text), which is then set back.
std::vector<ConfigRun> without_files(const std::vector<ConfigRun>& from, Needs& needs) {
  std::vector<ConfigRun> runs = from;
  for (size_t i = 0; i < runs.size(); ++i) {
    ConfigRun& run = runs[i];
    run.letter = from[0].letter == 'A' ? run.letter : static_cast<char>('A' + i);
    const std::string task = run.spec.data.name;
    for (const Field* file : file_fields())
      if (const std::string path = file->get(run.spec); !path.empty()) {
        add_need(needs, file->key, path);
        set_field(run.spec, file->key, "");
      }
    if (run.spec.data.name != task) set_field(run.spec, "data.name", task);
    std::erase_if(run.edits, [&](const Edit& edit) {
      if (names_file(edit.key)) add_need(needs, edit.key, edit.value);
      return names_file(edit.key);
    });
  }
  return runs;
}

using Lines = std::vector<std::string>;

Lines lines_of(const LinkedView& view, const CommandArguments& arguments, const Needs& needs) {
  Lines lines;
  for (const std::string& run : arguments.runs) lines.push_back("run=" + run);
  for (const std::string& set : arguments.sets) lines.push_back("set=" + set);
  for (const std::string& edit : arguments.edits) lines.push_back("edit=" + edit);
  for (const auto& [key, name] : needs) lines.push_back(fmt::format("needs={}:{}", key, name));
  if (view.instant) lines.emplace_back("instant=on");
  if (view.step > 0 && !view.instant) lines.push_back(fmt::format("step={}", view.step));
  if (view.cursor) lines.push_back(fmt::format("cursor={}", *view.cursor));
  if (view.screen != Screen::Lab)
    lines.push_back(
        fmt::format("screen={}{}{}", name_of(view.screen), view.lesson.empty() ? "" : ":", view.lesson));
  for (std::string& line : screen_lines(view)) lines.push_back(std::move(line));
  if (view.dark) lines.emplace_back("theme=dark");
  if (view.shown != 'A') lines.push_back(fmt::format("shown={}", view.shown));
  if (!view.bookmarks.empty()) lines.push_back(fmt::format("marks={}", fmt::join(view.bookmarks, ",")));
  lines.emplace_back(kEnd);
  return lines;
}

// Names the kind of line that takes most of the text: "the 96 wirings".
std::string longest_part(const Lines& lines) {
  struct Part {
    const char* what;
    size_t lines = 0, bytes = 0;
  } parts[] = {{"wirings"}, {"other settings"}, {"edits"}, {"names of runs"}, {"bookmarks"}};
  for (const std::string& line : lines) {
    Part& part = line.find("run.name=") != line.npos ? parts[3]
                 : line.starts_with("edit=")         ? parts[2]
                 : line.starts_with("marks=")        ? parts[4]
                 : line.find("wiring.") != line.npos ? parts[0]
                                                     : parts[1];
    ++part.lines;
    part.bytes += line.size();
  }
  const Part& most = *std::max_element(std::begin(parts), std::end(parts),
                                       [](const Part& a, const Part& b) { return a.bytes < b.bytes; });
  return most.lines == 1 ? fmt::format("the {}", most.what) : fmt::format("the {} {}", most.lines, most.what);
}

}  // namespace

std::string link_fragment(const LinkedView& view) {
  if (view.runs.empty()) fail("link", "there are no runs: expected one to four");
  Needs needs = view.needs;
  const std::vector<ConfigRun> runs = without_files(view.runs, needs);
  const Lines lines = lines_of(view, arguments_of(runs, true), needs);
  std::string fragment(1, kVersion);
  for (const std::string& line : lines) fragment += kMark + percent_encoded(line);
  if (fragment.size() > kLongestFragment)
    fail(
        "link",
        "the link would take {} characters, most of them for {}: expected at most {}; save the configuration "
        "instead (Ctrl+S)",
        fragment.size(), longest_part(lines), kLongestFragment);
  return fragment;
}

namespace {

std::string called(const words::Language& language, const std::string& key, const std::string& name) {
  return language.say(fmt::format("link.file.{}", key), {{"name", name}});
}

}  // namespace

std::string needed_words(const LinkedView& view) {
  std::vector<std::string> files;
  for (const auto& [key, name] : view.needs)
    if (names_file(key)) files.push_back(called(words::of_window(), key, name));
  if (files.empty()) return "";
  return tr("it needs your {files}, which it does not carry", {{"files", in_words(files, tr("and"))}});
}

void require_needed(const LinkedView& view, const std::vector<ConfigRun>& runs) {
  for (const auto& need : view.needs) {
    const bool there = std::ranges::any_of(
        runs, [&](const ConfigRun& run) { return !get_field(run.spec, need.first).empty(); });
    if (names_file(need.first) && !there)
      fail("link", "the link needs your {}, which it does not carry: expected {}",
           called(words::language("en"), need.first, need.second),
           need.first == "data.text" ? Message("--text FILE") : Message("--set {}=FILE", need.first));
  }
}

}  // namespace normscope::link
