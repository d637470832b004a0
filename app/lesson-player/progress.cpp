#include "app/lesson-player/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "app/course/figures.h"
#include "app/ui/widgets.h"
#include "engine/io/output_file.h"
#include "training/files/places.h"
#include "training/io/codec.h"
#include "training/io/input_kinds.h"
#include "training/io/input_value.h"

namespace normscope::course {

template <class Io>
void io(Io& io, codec::Of<Io, Try>& one) {
  io("set", one.set, codec::Text{4096});
  io("loss", one.loss);
}

}  // namespace normscope::course

namespace normscope::lesson_player {

namespace {

constexpr size_t kMaxLessons = 1000, kMaxPoints = 100'000, kMaxCards = 100, kMaxTries = 1000, kLongest = 4096;
constexpr int32_t kMaxHints = 100;

constexpr std::array<std::string_view, 6> kGradeNames{"none", "exact", "close", "within", "right", "wrong"};
constexpr codec::Words kGrade{kGradeNames};

constexpr codec::Map kLessons{kMaxLessons, codec::Object{}};

}  // namespace

template <class Io>
void io(Io& io, codec::Of<Io, LessonProgress>& p) {
  constexpr codec::Text kText{kLongest};
  constexpr codec::AnyNumber kNumber;
  const auto told = [&](auto& one, const std::array<const char*, 9>& keys) {
    io.optional(keys[0], one.skipped);
    io.optional(keys[1], one.order, codec::List{0, kMaxCards, kText});
    io.optional(keys[2], one.value, kNumber);
    io.optional(keys[3], one.found, codec::List{0, kMaxCards, codec::AnyNumber{}});
    io.optional(keys[4], one.own_setting);
    io.optional(keys[5], one.said, kText);
    io.optional(keys[6], one.measured, kText);
    io.optional(keys[7], one.score, kText);
    io.optional(keys[8], one.grade, kGrade);
  };
  io.optional("step", p.step, codec::Whole{0, 3});
  io.optional("committed", p.committed);
  io.optional("done", p.done);
  io.optional("drawn", p.drawn, codec::List{0, kMaxPoints, kNumber});
  told(p, {"skipped", "order", "value", "found", "own_setting", "said", "measured", "score", "grade"});
  told(p.first, {"first_skipped", "first_order", "first_value", "first_found", "first_own_setting",
                 "first_said", "first_measured", "first_score", "first_grade"});
  io.optional("language", p.language, kText);
  io.optional("answer", p.answer, kText);
  io.optional("sentence", p.sentence, kText);
  io.optional("tries", p.tries, codec::List{0, kMaxTries, codec::Object{}});
  io.optional("hints", p.hints, codec::Whole{0, kMaxHints});
}

std::string Progress::default_path() {
  const std::string data = data_folder();
  return data.empty() ? data : data + "/lessons.json";
}

Progress::Progress(std::string path) : path_(std::move(path)) { load(); }

CourseProgress parse_progress(std::string_view text, const std::string& name) {
  CourseProgress lessons;
  kLessons.read(InputValue::parse(text, name).at("lessons"), lessons);
  return lessons;
}

std::string text_of(const CourseProgress& lessons, int indentation) {
  const codec::Json root = {{"lessons", kLessons.write(lessons)}};
  return codec::text_of(root, indentation);
}

std::string predictions_line(const CourseProgress& progress) {
  CourseProgress kept;
  for (const auto& [id, p] : progress) {
    if (!p.committed && !p.skipped && p.answer.empty()) continue;
    LessonProgress& one = kept[id] = p;
    one.drawn.clear();
    one.tries.clear();
  }
  return text_of(kept, -1);
}

void Progress::load() {
  if (path_.empty()) return;
  try {
    if (const auto text = read_input_file_if_there(path_, input::kProgress))
      lessons_ = parse_progress(*text, path_);
  } catch (const Error& error) {
    notice_ = Message("{}; kept as {}, and the course begins anew", error.message, stash(path_));
  }
}

void Progress::save() {
  if (path_.empty()) return;
  try {
    make_folder(std::filesystem::path(path_).parent_path().string(), Access::Own, "progress");
    write_file(path_, text_of(lessons_, 1) + "\n", "progress", Access::Own);
  } catch (const Error& error) {
    notice_ = error.message;
  }
}

using namespace course;

std::vector<double> found_of(const Lesson& lesson, const CurveSet& curves) {
  const Prediction& q = lesson.prediction;
  const auto measured = [&](const std::string& id) { return evaluate(lesson, *lesson.measure(id), curves); };
  if (q.kind == Prediction::Kind::Value) return {measured(q.measure)};
  std::vector<double> found;
  if (q.kind == Prediction::Kind::Order)
    for (const Prediction::Card& card : q.cards) found.push_back(measured(card.measure));
  else if (const auto it = curves.find(q.curve); it != curves.end() && !it->second.y.empty())
    found.push_back(it->second.y.back());
  return found;
}

namespace {

/// The five seeds' values of a measure; nullptr if missing, or if measured with a setting of the learner's own.
const SeedValues* seeds_of(const Results* seeds, const JudgedPrediction& told, const std::string& measure) {
  if (!seeds || told.own_setting) return nullptr;
  const auto it = seeds->measures.find(measure);
  return it == seeds->measures.end() ? nullptr : &it->second;
}

constexpr double kClose = 1.25;      ///< two numbers whose ratio is smaller are close
constexpr double kMagnitude = 3.16;  ///< of one order of magnitude: half a power of ten to either side

/// The ratio of the larger of two numbers to the smaller; infinite unless they have the same sign.
double apart(double a, double b) {
  return a * b > 0 ? std::max(a / b, b / a) : std::numeric_limits<double>::infinity();
}

/// The direction of a drawing from its start: 1 up, −1 down, 0 where it ends close to the start.
int heading(double start, double end) {
  if (start == end || apart(start, end) < kClose) return 0;
  return end > start ? 1 : -1;
}

std::optional<double> drawn_from(const Lesson& lesson, const Results* seeds) {
  const auto start = start_of(lesson, lesson.prediction.curve, {.reference = seeds});
  return start ? std::optional(start->second) : std::nullopt;
}

/// Tells a right prediction; one that is wrong has words of its own.
const char* words_of(Grade grade) {
  switch (grade) {
    case Grade::Exact:
      return "exactly right";
    case Grade::Close:
      return "close";
    case Grade::Within:
      return "within the five seeds";
    case Grade::Right:
      return "right";
    case Grade::None:
    case Grade::Wrong:
      break;
  }
  return "";
}

/// How far a wrong number lies from the measured one.
std::string ratio_words(const Lesson& lesson, double said, double measured) {
  const std::string &more = lesson.words->tr("too high"), &less = lesson.words->tr("too low");
  if (said * measured < 0) return lesson.words->tr("of the other sign");
  if (said == 0 || !(measured * measured > 0)) return said > measured ? more : less;
  const bool larger = std::abs(said) > std::abs(measured);
  const double ratio = larger ? said / measured : measured / said;
  // Below zero what is larger by its size is lower: "three times too low" would say nothing.
  if (measured < 0)
    return fmt::format("{} {}", ui::number(std::abs(said - measured), 2), larger ? less : more);
  return fmt::format("{} {}", shown(ratio, {.digits = 2, .unit = "×"}), larger ? more : less);
}

/// Whether a wrong number is so near, on its slider and by its ratio, that no misconception need be behind it.
bool is_near(const Prediction& asked, double said, double measured) {
  constexpr double kShare = 0.1, kRatio = 2;
  return asked.kind == Prediction::Kind::Value && apart(said, measured) < kRatio &&
         std::abs(said - measured) < kShare * (asked.high - asked.low);
}

std::vector<std::string> faults_of_number(const Lesson& lesson, const Results* seeds, double said,
                                          double measured) {
  if (is_near(lesson.prediction, said, measured)) return {};
  const bool low = said < measured;
  std::vector<std::string> faults{low ? kTooLow : kTooHigh};
  if (apart(said, measured) > kMagnitude) faults.emplace_back(low ? kFarTooLow : kFarTooHigh);
  if (has_either_sign(lesson.prediction) && said * measured < 0) faults.emplace_back(kOtherSign);
  const std::optional<double> start = drawn_from(lesson, seeds);
  if (start && heading(*start, said) * heading(*start, measured) < 0) faults.emplace_back(kOtherDirection);
  return faults;
}

std::vector<std::string> number_in_words(const Lesson& lesson, const Results* seeds, JudgedPrediction& told) {
  const double measured = told.found.front();
  const Measure* const m = lesson.measure(lesson.prediction.measure);  // none of a drawing
  const auto words = [&](double value) { return m ? shown(value, *m, *lesson.words) : ui::number(value, 2); };
  told.measured = words(measured);
  if (told.skipped) return {};
  told.said = words(told.value);
  const bool exact =
      told.value == measured || (m && told.said == told.measured);  // to all digits that are shown
  // A result that another random start gives is not a mistake.
  const SeedValues* const range = m ? seeds_of(seeds, told, m->id) : nullptr;
  const bool within = range && told.value >= range->spread.low && told.value <= range->spread.high;
  told.grade = exact                                  ? Grade::Exact
               : within                               ? Grade::Within
               : apart(told.value, measured) < kClose ? Grade::Close
                                                      : Grade::Wrong;
  told.score = is_right(told.grade) ? lesson.words->tr(words_of(told.grade))
                                    : ratio_words(lesson, told.value, measured);
  return faults_of_number(lesson, seeds, told.value, measured);
}

/// Whether the order of the two measures changes between seeds.
bool undecided(const SeedValues& a, const SeedValues& b) {
  bool below = false, above = false;
  for (size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i) {
    below |= a.values[i] < b.values[i];
    above |= a.values[i] > b.values[i];
  }
  return below && above;
}

/// "Pre-LN → Admin → Post-LN (highest loss)": from the smallest to the largest, with the name of the last end.
std::string order_words(const std::vector<const Prediction::Card*>& cards, const std::string& last) {
  std::string words;
  for (const Prediction::Card* card : cards) words += (words.empty() ? "" : " → ") + card->text;
  return fmt::format("{} ({})", words, last);
}

/// Counts Kendall's distance: pairs in the wrong order. Of two that change places from seed to seed, or
/// that the lesson counts as alike, either order is right.
std::vector<std::string> order_in_words(const Lesson& lesson, const Results* seeds, JudgedPrediction& told) {
  const MeasuredOrder right = measured_order(lesson, seeds, told);
  told.measured = order_words(right.cards, lesson.prediction.last) + right.note;
  const auto said_place = [&](size_t place) {
    return std::ranges::find(told.order, right.cards[place]->id) - told.order.begin();
  };
  std::vector<std::string> faults;
  for (const auto& [lower, upper] : right.decided)
    if (said_place(lower) > said_place(upper))
      faults.push_back(fault_of_order(right.cards[upper]->id, right.cards[lower]->id));
  const std::vector<const Prediction::Card*> said = said_order(lesson, told);
  if (told.skipped || said.empty()) return faults;
  told.said = order_words(said, lesson.prediction.last);
  told.grade = faults.empty() ? Grade::Right : Grade::Wrong;
  const size_t cards = right.cards.size();
  told.score = faults.empty()
                   ? lesson.words->tr(words_of(told.grade))
                   : lesson.words->tr("{wrong} of {pairs} pairs wrong",
                                      {{"wrong", faults.size()}, {"pairs", cards * (cards - 1) / 2}});
  return faults;
}

/// Returns nothing for a damaged measured.json, because the lesson's page reports the fault.
std::optional<Results> seeds_if_read(const Lesson& lesson) {
  try {
    return load_results(lesson);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<const Prediction::Card*> said_order(const Lesson& lesson, const JudgedPrediction& told) {
  const std::vector<Prediction::Card>& all = lesson.prediction.cards;
  std::vector<const Prediction::Card*> cards;
  for (const std::string& id : told.order)
    for (const Prediction::Card& card : all)
      if (card.id == id) cards.push_back(&card);
  if (cards.size() != all.size() || told.order.size() != all.size()) cards.clear();
  return cards;
}

MeasuredOrder measured_order(const Lesson& lesson, const Results* seeds, const JudgedPrediction& told) {
  const Prediction& q = lesson.prediction;
  if (told.found.size() != q.cards.size()) return {};
  std::vector<std::pair<double, const Prediction::Card*>> placed;
  for (size_t i = 0; i < q.cards.size(); ++i) placed.emplace_back(told.found[i], &q.cards[i]);
  std::ranges::stable_sort(placed, [](const auto& a, const auto& b) { return a.first < b.first; });
  MeasuredOrder order;
  for (const auto& one : placed) order.cards.push_back(one.second);
  std::vector<bool> alike(order.cards.size());
  for (size_t i = 0; i < alike.size(); ++i)
    for (size_t j = i + 1; j < alike.size(); ++j) {
      const SeedValues *a = seeds_of(seeds, told, order.cards[i]->measure),
                       *b = seeds_of(seeds, told, order.cards[j]->measure);
      if (q.alike > 0 && a && b && std::abs(a->spread.mean - b->spread.mean) <= q.alike)
        alike[i] = alike[j] = true;
      else if (a && b && undecided(*a, *b))
        order.note += lesson.words->tr("; {first} and {second} change places between seeds",
                                       {{"first", order.cards[i]->text}, {"second", order.cards[j]->text}});
      else
        order.decided.emplace_back(i, j);
    }
  std::string names;
  for (size_t i = 0; i < alike.size(); ++i)
    if (alike[i]) names += (names.empty() ? "" : "; ") + order.cards[i]->text;
  if (!names.empty()) order.note += lesson.words->tr("; alike: ") + names;
  return order;
}

std::vector<std::string> put_in_words(const Lesson& lesson, const Results* seeds, JudgedPrediction& told) {
  if (told.skipped) told.said = lesson.words->tr("You skipped the prediction.");
  const bool order = lesson.prediction.kind == Prediction::Kind::Order;
  if (told.found.size() != (order ? lesson.prediction.cards.size() : 1)) return {};
  std::vector<std::string> faults =
      order ? order_in_words(lesson, seeds, told) : number_in_words(lesson, seeds, told);
  return is_right(told.grade) ? std::vector<std::string>{} : faults;
}

std::string right_in_words(const Lesson& lesson, const Results* seeds, const JudgedPrediction& told) {
  const bool order = lesson.prediction.kind == Prediction::Kind::Order;
  if (order || told.skipped || told.found.size() != 1 || is_right(told.grade)) return {};
  const double said = told.value, measured = told.found.front();
  std::string words;
  bool at_stake = true;  // how large the number is
  if (has_either_sign(lesson.prediction) && said * measured > 0) {
    words = lesson.words->tr("The sign is right.");
  } else if (const std::optional<double> start = drawn_from(lesson, seeds)) {
    const int direction = heading(*start, measured);
    if (direction == 0 || direction != heading(*start, said)) return {};
    words = lesson.words->tr(direction > 0 ? "That it rises is right." : "That it falls is right.");
    at_stake = apart(*start, measured) > kMagnitude * kMagnitude;
  }
  if (!words.empty() && at_stake && apart(said, measured) <= kMagnitude)
    words += " " + lesson.words->tr("So is the order of magnitude.");
  return words;
}

void say_anew(const Lesson& lesson, LessonProgress& progress) {
  const auto judged = [](const JudgedPrediction& told) {
    return told.score.empty() || told.grade != Grade::None;
  };
  if (!(progress.committed || progress.skipped)) return;
  if (progress.language == lesson.words->name() && judged(progress) && judged(progress.first)) return;
  const std::optional<Results> seeds = seeds_if_read(lesson);
  put_in_words(lesson, seeds ? &*seeds : nullptr, progress);
  put_in_words(lesson, seeds ? &*seeds : nullptr, progress.first);
  progress.language = lesson.words->name();
}

}  // namespace normscope::lesson_player
