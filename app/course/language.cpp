#include "app/course/language.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "app/course/reader.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/io/input_file.h"
#include "training/io/toml.h"

namespace normscope::course {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTexts = "texts.toml";

using Texts = std::map<std::string, std::string>;  ///< by key: "figure.losses.title"

/// Accepts "de" and "pt-BR", as the name becomes part of a path.
bool is_language(const std::string& name) {
  return !name.empty() && name.size() <= 16 &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '-'; });
}

std::string path_in(const std::string& folder, const std::string& language, const std::string& file) {
  return (fs::path(folder) / language / file).string();
}

std::string prose_file(StepKind kind) { return std::string(to_string(kind)) + ".md"; }

/// Turns [figure.losses] title into "figure.losses.title". What is no text is at fault.
void flatten(const toml::table& table, const std::string& file, const std::string& before, Texts& out) {
  for (const auto& [key, node] : table) {
    const std::string name = before + (before.empty() ? "" : ".") + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      flatten(*inner, file, name, out);
      continue;
    }
    const auto text = node.value_exact<std::string>();
    if (!text || text->empty())
      throw Error("{}:{}: [{}] is no text: expected the words in this language", file,
                  node.source().begin.line, name);
    out[name] = *text;
  }
}

std::vector<std::string> without(const std::vector<std::string>& all, const std::vector<std::string>& taken) {
  std::vector<std::string> rest;
  std::set_difference(all.begin(), all.end(), taken.begin(), taken.end(), std::back_inserter(rest));
  return rest;
}

/// Returns "3 missing: a, b, c; 1 superfluous: d"; both lists are sorted.
Message difference(const std::vector<std::string>& wanted, const std::vector<std::string>& there) {
  const std::vector<std::string> missing = without(wanted, there), more = without(there, wanted);
  const Message lacks("{} missing: {}", missing.size(), fmt::join(missing, ", ")),
      has("{} superfluous: {}", more.size(), fmt::join(more, ", "));
  if (missing.empty()) return more.empty() ? Message() : has;
  return more.empty() ? lacks : Message("{}; {}", lacks, has);
}

/// Lists numbers, tiles and forms of a text as they are written between braces: "{value end_A}".
std::vector<std::string> braces_of(const Prose& prose) {
  std::vector<std::string> all;
  for (const Block& block : prose.blocks)
    for (const Inline& piece : block.inlines) {
      using Kind = Inline::Kind;
      const char* word = piece.kind == Kind::Value       ? "value "
                         : piece.kind == Kind::Band      ? "band "
                         : piece.kind == Kind::Reference ? "ref "
                         : piece.kind == Kind::Drag      ? "drag "
                         : piece.kind == Kind::Sample    ? "text "
                         : piece.kind == Kind::Name      ? "name "
                                                         : "";
      if (piece.kind != Kind::Text && piece.kind != Kind::Formula)
        all.push_back(fmt::format("{{{}{}}}", word, piece.text));
    }
  std::ranges::sort(all);
  return all;
}

void take_prose(Lesson& lesson, StepKind kind, const std::string& language) {
  Step& step = lesson.steps[static_cast<size_t>(kind)];
  const std::string path = path_in(lesson.folder, language, prose_file(kind));
  Prose prose = parse_prose(read_needed(path, input::kProse), path);
  if (const Message fault = difference(braces_of(step.text), braces_of(prose)); !fault.empty())
    throw Error("{}:1: {}: expected those of the English text", path, fault);
  step.text = std::move(prose);
}

std::string numbered(std::set<std::string>& used, const std::string& key) {
  std::string name = key;
  for (int n = 2; !used.insert(name).second; ++n) name = fmt::format("{}-{}", key, n);
  return name;
}

using Said = std::function<void(const std::string& key, std::string& text)>;

void figure_texts(Figure& f, const Said& said) {
  const std::string table = "figure." + f.id + ".";
  said(table + "title", f.title);
  said(table + "note", f.note);
  said(table + "tab", f.tab);
  said(table + "x", f.x.label);
  said(table + "y", f.y.label);
  std::set<std::string> used;
  for (FigureLine& line : f.lines) said(table + numbered(used, "line." + line.curve), line.name);
  for (size_t i = 0; i < f.levels.size(); ++i)
    said(fmt::format("{}level.{}", table, i + 1), f.levels[i].label);
  for (size_t i = 0; i < f.theory.size(); ++i)
    said(fmt::format("{}theory.{}", table, i + 1), f.theory[i].label);
}

void knob_texts(Knob& knob, const Said& said) {
  const std::string table = "knob." + knob.id + ".";
  said(table + "label", knob.label);
  for (size_t i = 0; i < knob.names.size(); ++i)
    if (knob.names[i] != knob.choices[i])  // a name as a wiring writes it is the same everywhere
      said(fmt::format("{}name.{}", table, i + 1), knob.names[i]);
}

void challenge_texts(Challenge& task, const Said& said) {
  said("challenge.text", task.text);
  for (size_t i = 0; i < task.choices.size(); ++i) {
    const std::string table = fmt::format("challenge.choice.{}.", i + 1);
    said(table + "label", task.choices[i].label);
    for (size_t j = 0; j < task.choices[i].values.size(); ++j)
      said(fmt::format("{}value.{}", table, j + 1), task.choices[i].values[j].text);
  }
  for (size_t i = 0; i < task.hints.size(); ++i)
    said(fmt::format("challenge.hint.{}", i + 1), task.hints[i].text);
}

void say_texts(Say& say, const std::string& table, const Said& said) {
  said(table + "text", say.text);
  said(table + "word", say.word);
  for (size_t i = 0; i < say.others.size(); ++i) {
    said(fmt::format("{}others.{}.word", table, i + 1), say.others[i].word);
    said(fmt::format("{}others.{}.why", table, i + 1), say.others[i].why);
  }
}

/// Demands one gap, and words that differ.
void check_say(const Say& say, const std::string& file, size_t number) {
  if (!has_one_gap(say)) throw Error("{}:1: [say.{}.text] expected one gap, written {}", file, number, kGap);
  const std::vector<std::string> words = offered(say);
  if (const auto twice = std::ranges::adjacent_find(words); twice != words.end())
    throw Error("{}:1: [say.{}] '{}' is offered twice: expected different words", file, number, *twice);
}

void all_texts(Lesson& lesson, const Said& said) {
  said("title", lesson.title);
  said("question", lesson.question);
  said("claim", lesson.claim);
  said("what_if", lesson.what_if);
  for (size_t i = 0; i < lesson.reach.size(); ++i) said(fmt::format("reach.{}", i + 1), lesson.reach[i]);
  for (LessonRun* run : lesson.all_runs()) said("run." + run->id + ".name", run->name);
  for (Measure& m : lesson.measures) {
    said("measure." + m.id + ".label", m.label);
    said("measure." + m.id + ".unit", m.unit);
  }
  std::set<std::string> used;
  for (Check& check : lesson.checks) {
    const std::string table = numbered(used, "check." + check.measure) + ".";
    said(table + "says", check.says);
    for (size_t i = 0; i < check.excludes.size(); ++i)
      said(fmt::format("{}excludes.{}", table, i + 1), check.excludes[i].what);
  }
  for (Figure& figure : lesson.figures) figure_texts(figure, said);
  Prediction& q = lesson.prediction;
  said("prediction.ask", q.ask);
  said("prediction.unit", q.unit);
  said("prediction.first", q.first);
  said("prediction.last", q.last);
  for (Prediction::Card& card : q.cards) said("prediction.card." + card.id, card.text);
  for (size_t i = 0; i < lesson.thoughts.size(); ++i)
    said(fmt::format("thought.{}", i + 1), lesson.thoughts[i].text);
  for (Knob& knob : lesson.knobs) knob_texts(knob, said);
  if (lesson.puzzle) said("puzzle.text", lesson.puzzle->text);
  if (lesson.challenge) challenge_texts(*lesson.challenge, said);
  for (size_t i = 0; i < lesson.says.size(); ++i)
    say_texts(lesson.says[i], fmt::format("say.{}.", i + 1), said);
}

}  // namespace

void each_text(Lesson& lesson, const Said& said) {
  all_texts(lesson, [&](const std::string& key, std::string& text) {
    if (!text.empty()) said(key, text);
  });
}

std::vector<std::string> languages_of(const std::string& lesson_folder) {
  std::vector<std::string> all;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(lesson_folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (is_language(name) && fs::exists(entry.path() / kTexts, failure)) all.push_back(name);
  }
  std::ranges::sort(all);
  return all;
}

std::vector<std::string> languages_in(const std::string& folder) {
  std::set<std::string> all;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure))
    if (entry.is_directory(failure))
      for (const std::string& one : languages_of(entry.path().string())) all.insert(one);
  return {all.begin(), all.end()};
}

std::vector<std::string> language_files(const Lesson& lesson, const std::string& language) {
  std::vector<std::string> files{path_in(lesson.folder, language, kTexts)};
  for (StepKind kind : kSteps) files.push_back(path_in(lesson.folder, language, prose_file(kind)));
  return files;
}

Lesson translated(const Lesson& lesson, const std::string& language) {
  const std::string file = path_in(lesson.folder, language, kTexts);
  const toml::table root = parse_toml(read_needed(file, input::kLesson), file);
  Texts texts;
  flatten(root, file, "", texts);
  Lesson out = lesson;
  std::vector<std::string> wanted, there;
  each_text(out, [&](const std::string& key, std::string& text) {
    wanted.push_back(key);
    if (const auto it = texts.find(key); it != texts.end()) text = it->second;
  });
  for (const auto& [key, text] : texts) there.push_back(key);
  std::ranges::sort(wanted);
  if (const Message fault = difference(wanted, there); !fault.empty())
    throw Error("{}:1: {}: expected the texts of lesson.toml", file, fault);
  for (size_t i = 0; i < out.says.size(); ++i) check_say(out.says[i], file, i + 1);
  for (StepKind kind : kSteps) take_prose(out, kind, language);
  out.language = language;
  check_references(out, Table(root, file, ""));
  return out;
}

std::vector<std::string> language_faults(const Lesson& lesson) {
  std::vector<std::string> faults;
  for (const std::string& language : languages_of(lesson.folder))
    if (Message fault = guarded(language, [&] { translated(lesson, language); }); !fault.empty())
      faults.push_back(std::move(fault));
  return faults;
}

std::string called(const Words& words, std::string_view kind, std::string_view key,
                   std::string_view otherwise) {
  const std::string* word = words.find(fmt::format("course.{}.{}", kind, key));
  return word ? *word : std::string(otherwise);
}

}  // namespace normscope::course
