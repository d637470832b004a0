// The guessing game: guess the next letters of a sentence that the runs have not seen, and see your own nats per letter
// as a line on the loss plot.
//
// The figure is an honest one. Your guess gets the probability that your guesses have been right so far (Laplace's
// rule), and letter frequencies share the rest. The score is the mean of -ln of the true letter's probability: the loss
// of a model that guesses as you do.
#pragma once

#include <string>
#include <vector>

#include "app/ui/ui.h"
#include "training/session/lab.h"

namespace normscope::shell {

class Guesses {
 public:
  explicit Guesses(std::vector<double> frequencies = {}) : frequencies_(std::move(frequencies)) {}
  // `add` takes indices of symbols; a guess that is no symbol of the text is -1.
  void add(int guess, int truth);
  int count() const { return count_; }
  int hits() const { return hits_; }
  double nats() const;  // per letter; NaN before the first guess

 private:
  std::vector<double> frequencies_;
  int count_ = 0, hits_ = 0;
  double sum_ = 0;
};

struct GuessingGame {
  std::vector<std::string> alphabet;  // of the text, UTF-8
  std::vector<int> sentence;
  int given = 0, at = 0;  // letters shown at the start, letters shown now
  Guesses guesses{};
  std::string last;  // what was guessed last
  bool open = false;
  bool lesson = false;  // closed by the button that leads to the course
};

inline constexpr int kGameLetters = 40;
// `kGameEnough` is the fewest guesses that the line on the plot may rest on.
inline constexpr int kGameEnough = 10;

// `game_refusal` says why there is no game about what this run learns; empty: there is.
std::string game_refusal(const RunSpec& spec);
// `start_game` takes a line of the validation text of this run. Throws Error where the text cannot be read or has no
// letters.
void start_game(GuessingGame&, const RunSpec& spec);
void guess(GuessingGame&, std::string_view letter);
// `draw_game` draws the popup "app/guessing game" while it is open. It returns true when it was closed.
bool draw_game(ui::Ui&, GuessingGame&, const LabView& view);

}  // namespace normscope::shell
