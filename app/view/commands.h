// What the user asks of the trainer, as values: the Lab screen only returns commands, so it runs the same on
// a real Lab and on a fixed view, and tests can read what a click meant. run_commands posts them to a Lab.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "app/plot/plot_spec.h"
#include "engine/lab/lab.h"
#include "engine/spec/backend_choice.h"

namespace normscope::lab {

struct Play {};
struct Pause {};
struct StepOnce {};
struct Reset {
  bool new_seed = false;
};
struct ExchangeReset {  // undo and redo of a reset with the same seed
  bool back = true;
};
struct SetBudget {
  int steps = 300;
};
struct SetSpeed {
  double steps_per_second = 0;  // 0 = as fast as possible
};
struct EditField {
  int run = -1;  // -1 = all
  std::string key, value;
};
struct LoadText {  // all runs learn from this file, read anew
  std::string path;
};
struct SetSpec {
  int run = 0;
  std::shared_ptr<const RunSpec> spec;
};
struct ForkFrom {  // D plays on from an earlier step of a run
  int run = 0, step = 0;
};
struct CheckSeeds {
  bool on = true;  // false: stop
};
struct SetBackend {
  BackendChoice choice;
};
struct MeasureBatch {};  // the live measurements over the whole batch of this step
struct Ablate {          // the loss with each layer left out, and with these together
  int run = 0;
  std::vector<std::string> left_out;
};
// Other runs in the place of all that are shown. `stash`: a folder that the session is saved in before, so
// that it can come back; empty: it is gone.
struct ReplaceRuns {
  std::vector<RunSpec> runs;
  std::vector<std::vector<Edit>> edits;
  bool play = true;
  bool known = false;  // a run that was trained to its end before stands there at once
  std::string stash;
  std::string letters{};  // as Lab::start takes them
};
struct SwapSession {  // the session goes to one folder, and another comes from the other
  std::string save, restore;
  bool play = false;
};
struct RemoveFork {};
struct RestoreFork {};

enum class PlotFormat { svg, png, csv };
// A plot as a file; the app writes it, and the Lab does not see it.
struct SavePlot {
  std::shared_ptr<const std::vector<plot::PlotSpec>> plots;
  plot::View view;
  PlotFormat format = PlotFormat::svg;
};

using Command = std::variant<Play, Pause, StepOnce, Reset, ExchangeReset, SetBudget, SetSpeed, SetBackend,
                             EditField, LoadText, SetSpec, ForkRequest, ForkFrom, CheckSeeds, MeasureBatch,
                             Ablate, ReplaceRuns, SwapSession, RemoveFork, RestoreFork, SavePlot>;

void run_commands(Lab& lab, const std::vector<Command>& commands);

}  // namespace normscope::lab
