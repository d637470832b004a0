#include "app/shell/guessing_game.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/data/sequence_task.h"

namespace normscope::shell {
namespace {

constexpr const char* kGamePopup = "app/opener";
constexpr const char* kGuess = "app/opener/guess";
constexpr int kGiven = 14;
constexpr double kRare = 1e-6;  // a letter that the training text does not have

std::string utf8_of(unsigned c) {
  std::string out;
  if (c < 0x80) return std::string(1, static_cast<char>(c));
  if (c < 0x800) return {static_cast<char>(0xC0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3F))};
  return {static_cast<char>(0xE0 | (c >> 12)), static_cast<char>(0x80 | ((c >> 6) & 0x3F)),
          static_cast<char>(0x80 | (c & 0x3F))};
}

// `shown` makes blanks visible.
std::string shown(const std::string& letter) { return letter == " " ? "␣" : letter == "\n" ? "⏎" : letter; }

}  // namespace

void Guesses::add(int guess, int truth) {
  const auto frequency = [&](int symbol) {
    return symbol >= 0 && static_cast<size_t>(symbol) < frequencies_.size()
               ? frequencies_[static_cast<size_t>(symbol)]
               : 0.0;
  };
  const double right = (hits_ + 1.0) / (count_ + 2.0);
  const bool hit = guess == truth;
  const double rest = std::max(kRare, 1 - frequency(guess));
  const double p = hit ? right : (1 - right) * std::max(kRare, frequency(truth)) / rest;
  sum_ -= std::log(p);
  ++count_;
  hits_ += hit;
}

double Guesses::nats() const { return count_ ? sum_ / count_ : std::numeric_limits<double>::quiet_NaN(); }

std::string game_refusal(const RunSpec& spec) {
  const std::string& data = spec.data.name;
  const bool letters = data == "corpus" || data == "text" || sequence_rule(data);
  return letters && spec.data.form == TaskForm::NextSymbol ? "" : words::say("shell.game.needs_letters");
}

void start_game(GuessingGame& state, const RunSpec& spec) {
  if (const std::string why = game_refusal(spec); !why.empty()) throw Error(why);
  const auto task = make_task(spec.data);
  if (task->vocabulary() > 4096) throw Error(words::say("shell.game.needs_letters"));
  constexpr int kLength = kGiven + kGameLetters;
  const Batch batch = task->draw(spec.seed, 1, Split::Validation, 1, kLength);
  state = GuessingGame{};
  state.sentence.assign(batch.tokens.begin(), batch.tokens.end());
  for (int32_t i = 0; i < task->vocabulary(); ++i) state.alphabet.push_back(task->decode({&i, 1}));
  const std::span<const double> frequencies = task->unigram();
  state.guesses = Guesses(std::vector<double>(frequencies.begin(), frequencies.end()));
  state.given = state.at = kGiven;
}

void guess(GuessingGame& state, std::string_view letter) {
  if (state.at >= static_cast<int>(state.sentence.size())) return;
  const auto at = std::find(state.alphabet.begin(), state.alphabet.end(), letter);
  const int index = at == state.alphabet.end() ? -1 : static_cast<int>(at - state.alphabet.begin());
  state.guesses.add(index, state.sentence[static_cast<size_t>(state.at)]);
  state.last = letter;
  ++state.at;
}

namespace {

// `line_so_far` has the letters so far, the last ones when there are many, and a place for the next.
std::string line_so_far(const GuessingGame& state) {
  std::string line;
  for (int i = std::max(0, state.at - 44); i < state.at; ++i) {
    const std::string& letter = state.alphabet[static_cast<size_t>(state.sentence[static_cast<size_t>(i)])];
    line += letter == "\n" ? " " : letter;
  }
  return line + (state.at < static_cast<int>(state.sentence.size()) ? "_" : "");
}

std::string what_happened(const GuessingGame& state) {
  if (state.guesses.count() == 0) return words::say("shell.game.type");
  const std::string& truth =
      state.alphabet[static_cast<size_t>(state.sentence[static_cast<size_t>(state.at - 1)])];
  return truth == state.last
             ? words::say("shell.game.right", {{"letter", shown(truth)}})
             : words::say("shell.game.wrong", {{"said", shown(state.last)}, {"letter", shown(truth)}});
}

void take_letters(GuessingGame& state) {
  const ImGuiIO& io = ImGui::GetIO();
  for (const ImWchar c : io.InputQueueCharacters)
    if (c >= ' ') guess(state, utf8_of(c));
}

}  // namespace

bool draw_game(ui::Ui& ui, GuessingGame& state, const LabView& view) {
  using namespace ui;
  if (!state.open) return false;
  state.lesson = false;
  const Theme& t = ui.theme();
  const Rect box{(ui.size().x - 480) / 2, (ui.size().y - 210) / 2, 480, 210};
  if (!ui.begin_popup(kGamePopup, box)) {
    state.open = false;
    if (ui.edit().name == kGuess) ui.edit() = {};
    return true;
  }
  Rect rest = box.inset(20, 16);
  Painter& p = ui.paint();
  p.text_in(rest.take_top(24, 2), {Face::Bold, type::figure}, t.ink, words::say("shell.game.title"));
  p.text_in(rest.take_top(20, 8), {Face::Sans, type::body}, t.ink2, words::say("shell.game.question"));
  const Rect line = rest.take_top(36, 6);
  p.fill(line, t.field, radius::field);
  // While the game is open, keys are guesses and not shortcuts.
  ui.edit().name = kGuess;
  ui.hit(kGuess, line, line_so_far(state), words::say("shell.game.help_letter"));
  p.text_in(line.inset(12, 0), {Face::Mono, type::title}, t.ink, line_so_far(state));
  p.text_in(rest.take_top(22, 2), {Face::Sans, type::body}, t.ink2, what_happened(state));
  std::string figure = words::say("shell.game.of", {{"done", state.guesses.count()}, {"all", kGameLetters}});
  if (state.guesses.count() > 0)
    figure += "   " + words::say("shell.game.score", {{"you", ui::decimals(state.guesses.nats(), 2)},
                                                      {"frequencies", ui::decimals(view.unigram_entropy, 2)},
                                                      {"unit", words::spoken(view.unit)}});
  const Rect row = rest.take_top(22, 4);
  p.text_in(row, {Face::Mono, type::body}, t.ink, figure);
  ui.mark("app/opener/figure", row, figure, words::say("shell.game.help_score"));
  take_letters(state);
  const bool done = state.at >= static_cast<int>(state.sentence.size());
  ButtonOptions look;
  look.primary = done;
  const bool close = button(ui, "app/opener/close", rest.take_right(90, 8),
                            done ? words::say("shell.game.show") : words::say("shell.game.close"),
                            words::say("shell.game.line_stays"), look);
  if (state.guesses.count() >= kGameEnough &&
      button(ui, "app/opener/lesson", rest.take_right(108), words::say("shell.offer.first_lesson"),
             words::say("shell.offer.help_lesson")))
    state.lesson = true;
  if (close || state.lesson || ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
    ui.edit() = {};
    ui.close_popup();
  }
  ui.end_popup();
  if (ui.popup_open(kGamePopup)) return false;
  state.open = false;
  return true;
}

}  // namespace normscope::shell
