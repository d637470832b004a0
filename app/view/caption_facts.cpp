#include "app/view/caption_facts.h"

#include <fmt/format.h>

#include "app/ui/numbers.h"
#include "app/words/words.h"
#include "training/files/command_text.h"
#include "training/measure/verdict.h"
#include "training/session/session_file.h"

namespace normscope::view {

std::string caption_facts(const LabView& lab) {
  std::string facts;
  for (const RunView& run : lab.runs)
    facts += fmt::format(
        "{}: {}; {}\n", run.letter, run.name,
        tr("seed {seed}, step {step}; {verdict}", {{"seed", static_cast<long long>(run.spec->seed)},
                                                   {"step", run.step},
                                                   {"verdict", words::spoken(run.badge)}}));
  facts += tr(
      "A verdict is of the mean of the last {window} losses: a run learns when it lies {margin} nats below the line "
      "of symbol frequencies, and is stuck when it does not and has ceased to fall.",
      {{"window", Plateau::kWindow}, {"margin", ui::number(Plateau::kMargin, 1)}});
  return facts + "\n" + tr("The runs are made again by") + "\n" + command_of(session_of(lab)) + "\n";
}

}  // namespace normscope::view
