// The Tape screen says of an embedding how many tokens it looks up, also where their rows are joined.
#include "addons/tape-screen/app/shown.h"
#include "app/ui/widgets.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "training/data/task.h"
#include "training/run/run.h"

namespace normscope::test_tape_sentences {

TEST_CASE("tape panels: a parser's embedding looks up the features of every state") {
  const std::vector<std::string> presets = preset_names();
  if (std::ranges::find(presets, "parser") == presets.end()) return;  // an add-on's
  RunSpec spec = preset_run("parser");
  for (const auto& [key, value] : {std::pair{"model.layers", "1"},
                                   {"model.d_model", "4"},
                                   {"model.feed_forward", "8"},
                                   {"train.batch", "32"}})
    set_field(spec, key, value);
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const Run run(spec, make_task(spec.data), *backend);
  const std::unique_ptr<StepPlayer> player = run.play_next();
  const auto& all = player->data().instructions;
  const auto found = std::ranges::find_if(
      all, [](const Instruction& it) { return it.phase == Phase::Forward && it.op == OpKind::Embedding; });
  REQUIRE(found != all.end());
  const auto at = static_cast<size_t>(found - all.begin());
  player->seek(at + 1);
  const std::string sentence = tape_screen::shown_of(*player, at).sentence;
  INFO(sentence);
  CHECK(sentence.starts_with("It looks up " + ui::grouped(32 * run.spec().model.sequence) + " tokens"));
}

}  // namespace normscope::test_tape_sentences
