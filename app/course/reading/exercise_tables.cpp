#include "app/course/reading/exercise_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "engine/core/error.h"

namespace normscope::course {
namespace {

constexpr int32_t kSayWords = 30, kWhyWords = 20, kThoughtWords = 50, kMostScore = 1000, kMostMinutes = 60;
constexpr size_t kFewestOthers = 2, kMostOthers = 3, kLongestWord = 32, kMostChoices = 6, kMostValues = 8,
                 kMostHints = 6, kMostWays = 8;

int32_t words_in(const std::string& text) {
  std::istringstream words(text);
  return static_cast<int32_t>(
      std::distance(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()));
}

std::string few_words(Table& t, std::string_view key, int32_t most) {
  const std::string text = t.text(key);
  if (const int32_t words = words_in(text); words > most)
    t.refuse(key, Message("has {} words: expected at most {}", words, most));
  return text;
}

/// Reads the word of a button.
std::string short_word(Table& t, std::string_view key) {
  const std::string word = t.text(key);
  if (word.size() > kLongestWord)
    t.refuse(key, Message("has {} bytes: expected at most {}, for a button", word.size(), kLongestWord));
  return word;
}

Say read_say(Table& t) {
  Say say;
  say.text = few_words(t, "text", kSayWords);
  if (!has_one_gap(say)) t.refuse("text", Message("expected one gap, written {}", kGap));
  say.word = say.kept = short_word(t, "word");
  std::set<std::string> words{say.word};
  for (Table& other : t.tables("others")) {
    const std::string word = short_word(other, "word");
    say.others.push_back({word, few_words(other, "why", kWhyWords), word});
    other.done();
    if (!words.insert(say.others.back().word).second)
      other.refuse("word",
                   Message("'{}' is offered twice: expected different words", say.others.back().word));
  }
  if (say.others.size() < kFewestOthers || say.others.size() > kMostOthers)
    t.refuse("others", Message("{} of them: expected {} or {} other words, each with why it is wrong",
                               say.others.size(), kFewestOthers, kMostOthers));
  t.done();
  return say;
}

Challenge::Choice read_choice(Table& t) {
  Challenge::Choice choice{t.text("field"), t.text("label"), {}};
  if (!find_field(choice.field))
    t.refuse("field", Message("'{}' is no field of a run: expected one as train.warmup", choice.field));
  for (Table& value : t.tables("values")) {
    choice.values.push_back({value.text("value"), short_word(value, "text")});
    choice.values.back().name = choice.values.back().text;
    if (choice.values.back().value.find_first_of(" \t\n=") != std::string::npos)
      value.refuse("value", "has a blank or '=' in it: expected one word");
    value.done();
  }
  if (choice.values.size() < 2 || choice.values.size() > kMostValues)
    t.refuse("values", Message("expected 2 to {} values", kMostValues));
  t.done();
  return choice;
}

/// Judges everything of [challenge] that needs the whole lesson.
class Referee {
 public:
  Referee(const Lesson& lesson, const Table& root) : lesson_(lesson), task_(*lesson.challenge), root_(root) {}

  void all() const {
    if (!lesson_.has_letter(task_.run))
      refuse("run", Message("'{}' is not in this lesson: expected a run with a letter of it", task_.run));
    if (!lesson_.knobs.empty()) refuse("run", "has a [knob] beside it: expected the choices alone");
    budget(task_.run);
    ends_above(task_.measure);
    for (const Challenge::Choice& choice : task_.choices) offers(choice);
    for (const Challenge::Way& way : task_.ways) {
      if (lesson_.has_letter(way.run) || !lesson_.run(way.run))
        refuse("ways", Message("'{}': expected a run for comparison, with a name in small letters", way.run));
      budget(way.run);
      reachable(way.run);
      ends_below(way.measure, way.run);
    }
    nothing_waits();
  }

 private:
  [[noreturn]] void refuse(const std::string& key, const Message& what) const {
    throw Error("{}:1: [challenge.{}] {}", root_.file(), key, what);
  }

  void budget(const std::string& run) const {
    const RunSpec& spec = lesson_.run(run)->spec;
    if (spec.train.steps != task_.budget)
      refuse("budget", Message("is {}, and run {} has {} steps: expected as many", task_.budget, run,
                               spec.train.steps));
  }

  const Check* check_of(const std::string& measure, const std::string& run) const {
    const Measure* m = lesson_.measure(measure);
    const Curve* curve = m ? lesson_.curve(m->curve) : nullptr;
    if (!curve || curve->run != run)
      refuse("measure", Message("'{}' is no measure of a curve of run {}: expected one", measure, run));
    for (const Check& check : lesson_.checks)
      if (check.measure == measure) return &check;
    return nullptr;
  }

  void ends_above(const std::string& measure) const {
    const Check* check = check_of(measure, task_.run);
    if (!check || !check->low || *check->low < task_.line)
      refuse("measure",
             Message("'{}' has no [[check]] with low = {} or more: expected one, because the start is stuck",
                     measure, task_.line));
  }

  void ends_below(const std::string& measure, const std::string& run) const {
    const Check* check = check_of(measure, run);
    if (!check || !check->high || *check->high > task_.line)
      refuse(
          "ways",
          Message("'{}' has no [[check]] with high = {} or less: expected one, because it is a measured way",
                  measure, task_.line));
  }

  void offers(const Challenge::Choice& choice) const {
    RunSpec spec = lesson_.run(task_.run)->spec;
    const std::string own = get_field(spec, choice.field);
    bool has_own = false;
    std::set<std::string> values;
    for (const Challenge::Choice::Value& value : choice.values) {
      try {
        set_field(spec, choice.field, value.value);
      } catch (const Error& error) {
        refuse("choices", error.message);
      }
      const std::string as_kept = get_field(spec, choice.field);
      if (as_kept != value.value || !values.insert(as_kept).second)
        refuse("choices", Message("'{}' of {}: expected different values as a file has them, here '{}'",
                                  value.value, choice.field, as_kept));
      has_own |= as_kept == own;
    }
    if (!has_own)
      refuse("choices", Message("{} is '{}' at the start: expected it among the values", choice.field, own));
  }

  /// Demands that a way differs from the start in what is offered, and in nothing else.
  void reachable(const std::string& run) const {
    const RunSpec& way = lesson_.run(run)->spec;
    RunSpec made = lesson_.run(task_.run)->spec;
    for (const Challenge::Choice& choice : task_.choices) {
      const std::string value = get_field(way, choice.field);
      if (std::ranges::none_of(choice.values,
                               [&](const Challenge::Choice::Value& v) { return v.value == value; }))
        refuse("ways",
               Message("run {} has {} = {}: expected a value that is offered", run, choice.field, value));
      set_field(made, choice.field, value);
    }
    complete(made);
    for (const Edit& edit : edits_between(made, way, 0))
      if (edit.key != "run.name")
        refuse("ways", Message("run {} has {} = {}, which no choice offers", run, edit.key, edit.value));
  }

  void waits(const std::string& measure, const std::string& where) const {
    if (const Measure* m = lesson_.measure(measure); m && of_way(lesson_, *m))
      throw Error(
          "{}:1: [{}] '{}' is of a measured way, for which no learner waits: expected "
          "{{band NAME}} in a text, or another measure",
          root_.file(), where, measure);
  }

  void nothing_waits() const {
    waits(lesson_.prediction.measure, "prediction.measure");
    for (const Prediction::Card& card : lesson_.prediction.cards) waits(card.measure, "prediction.cards");
    if (lesson_.puzzle) waits(lesson_.puzzle->measure, "puzzle.measure");
    for (StepKind kind : kSteps) {
      const std::string step = std::string("step.") + to_string(kind);
      for (const Block& block : lesson_.step(kind).text.blocks)
        for (const Inline& piece : block.inlines) {
          if (piece.kind == Inline::Kind::Value) waits(piece.text, step);
          for (const Condition& condition : piece.conditions) waits(condition.measure, step);
        }
      if (kind != StepKind::Explain) gives_away(kind, step);
    }
  }

  void gives_away(StepKind kind, const std::string& step) const {
    for (const std::string& id : lesson_.step(kind).figures)
      for (const FigureLine& line : lesson_.figure(id)->lines)
        if (of_way(lesson_, *lesson_.curve(line.curve)))
          throw Error("{}:1: [{}.figures] '{}' shows a way before the end: expected it in explain alone",
                      root_.file(), step, id);
  }

  const Lesson& lesson_;
  const Challenge& task_;
  const Table& root_;
};

}  // namespace

std::vector<Say> read_says(Table& root) {
  std::vector<Say> says;
  for (Table& child : root.tables("say")) says.push_back(read_say(child));
  if (!says.empty() && says.size() != kSays)
    root.refuse("say", Message("{} sentences: expected {}", says.size(), kSays));
  return says;
}

std::vector<Thought> read_thoughts(Table& root, const Prediction& prediction) {
  const std::vector<std::string> known = possible_faults(prediction);
  std::vector<Thought> thoughts;
  std::set<std::string> seen;
  for (Table& t : root.tables("thought")) {
    thoughts.push_back({t.text("when"), few_words(t, "text", kThoughtWords)});
    const std::string& when = thoughts.back().when;
    if (std::ranges::find(known, when) == known.end())
      t.refuse("when",
               Message("'{}' is no fault of an answer here: expected one as '{}'", when, known.front()));
    if (!seen.insert(when).second)
      t.refuse("when", Message("'{}' has two thoughts: expected one for each fault", when));
    t.done();
  }
  return thoughts;
}

Challenge read_challenge(Table t) {
  Challenge c;
  c.text = few_words(t, "text", 60);
  c.run = t.text("run");
  c.measure = t.text("measure");
  c.line = t.number("line");
  c.budget = t.whole("budget", 1, 100'000);
  c.minutes = t.whole("minutes", 1, kMostMinutes);
  c.points = t.whole("points", 1, kMostScore);
  c.per_run = t.whole("per_run", 0, kMostScore);
  for (Table& choice : t.tables("choices")) c.choices.push_back(read_choice(choice));
  if (c.choices.empty() || c.choices.size() > kMostChoices)
    t.refuse("choices", Message("expected 1 to {} fields", kMostChoices));
  for (Table& way : t.tables("ways")) {
    c.ways.push_back({way.text("run"), way.text("measure")});
    way.done();
  }
  if (c.ways.size() < 2 || c.ways.size() > kMostWays)
    t.refuse("ways", Message("expected 2 to {} measured ways", kMostWays));
  for (Table& hint : t.tables("hints")) {
    c.hints.push_back({few_words(hint, "text", kSayWords), hint.whole("costs", 0, kMostScore)});
    hint.done();
  }
  if (c.hints.empty() || c.hints.size() > kMostHints)
    t.refuse("hints", Message("expected 1 to {} hints", kMostHints));
  t.done();
  return c;
}

void check_challenge(const Lesson& lesson, const Table& root) {
  if (lesson.challenge) Referee(lesson, root).all();
}

bool of_way(const Lesson& lesson, const Curve& curve) {
  return lesson.challenge && std::ranges::any_of(lesson.challenge->ways, [&](const Challenge::Way& way) {
           return way.run == curve.run;
         });
}

bool of_way(const Lesson& lesson, const Measure& measure) {
  if (measure.curve.empty())
    return of_way(lesson, *lesson.measure(measure.first)) || of_way(lesson, *lesson.measure(measure.second));
  return of_way(lesson, *lesson.curve(measure.curve));
}

namespace {

using view::Side;
using view::SlotId;

constexpr size_t kMostPictures = 2;  // that fit beside each other

/// Searches layer by layer, from the bottom up.
std::optional<OpeningPlace> place_in(const view::Stack& stack, std::string_view name) {
  for (const int end : {view::kFinal, view::kEmbedding})
    if (const SlotId at{end, view::Sub::Attention, Slot::Stream, stack.side}; view::slot_name(at) == name)
      return OpeningPlace{at};
  for (int layer = 0; layer < stack.layers(); ++layer)
    for (const view::Sub sub : stack.subs()) {
      for (const Slot slot : view::kSlots)
        if (const SlotId at{layer, sub, slot, stack.side}; view::slot_name(at) == name)
          return OpeningPlace{at};
      const std::string scale = fmt::format("{}layer{}/{}/skip-scale", view::side_prefix(stack.side),
                                            layer + 1, view::to_string(sub));
      const bool scaled =
          view::wiring_of(stack.wiring, layer, sub).skip.kind != Scale::Kind::One && scale == name;
      if (scaled) return OpeningPlace{{layer, sub, Slot::Stream, stack.side}, true};
    }
  return {};
}

}  // namespace

std::optional<OpeningPlace> opening_place(const ModelConfig& model, std::string_view name) {
  if (!is_transformer(model.architecture)) return {};
  const view::Stacks stacks = view::stacks_of(model);
  if (const auto place = place_in(stacks.of(Side::Main), name)) return place;
  return stacks.both ? place_in(stacks.of(Side::Encoder), name) : std::nullopt;
}

std::vector<OpeningRun> read_opening(const Lesson& lesson, Table& t) {
  std::vector<OpeningRun> opening;
  size_t room = kMostPictures;
  for (Table& one : t.tables("opening")) {
    OpeningRun picture{one.text("run"), one.text("slot")};
    one.done();
    if (!lesson.has_letter(picture.run))
      one.refuse("run", Message("'{}' is not in this lesson: expected a run with a letter", picture.run));
    const ModelConfig& model = lesson.run(picture.run)->spec.model;
    if (!opening_place(model, picture.slot))
      one.refuse("slot", Message("'{}' is no place of its diagram: expected one as layer1/ffn/stream, "
                                 "before or after, final, embedding, or of a scaled skip path "
                                 "layer1/ffn/skip-scale",
                                 picture.slot));
    const size_t wide = has_both(model) ? kMostPictures : 1;
    if (wide > room)
      one.refuse("run", "has no room: expected two runs at most, or one with an encoder and a decoder");
    room -= wide;
    opening.push_back(std::move(picture));
  }
  return opening;
}

}  // namespace normscope::course
