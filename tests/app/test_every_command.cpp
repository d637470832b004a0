// Every command of the program once, with good and with bad input, on models that take no time: what it
// writes is the business of the other files (test_cli_*.cpp); here it runs under the address and
// undefined-behaviour sanitizers too.
#include <string>
#include <utility>
#include <vector>

#include "app/program.h"
#include "catch.hpp"
#include "test_paths.h"

using namespace normscope::test;

namespace {

const std::string kFixture = NORMSCOPE_FIXTURES "/decoder-pre.safetensors";

void check_exit(const std::string& arguments, int code) {
  const Outcome outcome = run_program(arguments, "env -u DISPLAY -u WAYLAND_DISPLAY");
  INFO("normscope " << arguments << " gave " << outcome.code << "\n" << outcome.out << outcome.err);
  CHECK(outcome.code == code);
  CHECK_FALSE(holds(outcome.err, "Sanitizer"));
  CHECK_FALSE(holds(outcome.err, "runtime error"));
  if (code > 1) CHECK(is_one_error_line(outcome));
}

}  // namespace

TEST_CASE("every command runs, and refuses in one line what it cannot read") {
  const Folder folder;
  const std::string config =
      folder.write("tiny.toml", std::string(kTiny) + "[run.A]\n[run.B]\nmodel.placement = \"pre\"\n");
  const std::string saved = folder.file("run.safetensors"),
                    remembering = folder.file("remembering.safetensors"),
                    text = folder.write("text", "to be or not to be\n"),
                    broken = folder.write("broken", std::string(64, '\xff')), none = folder.file("none"),
                    log = folder.file("log"), picture = folder.file("lab.png"), zoo = folder.file("zoo"),
                    parser = folder.file("parser.safetensors");
  const std::string small =
      " --set model.d_model=16 --set model.heads=2 --set model.feed_forward=32 --set model.sequence=16"
      " --set train.batch=4";
  const std::vector<std::pair<std::string, int>> commands{
      {"--version", 0},
      {"--nonsense", 2},
      {"train --run A=post" + small + " --steps 3 --log " + log + " --save " + saved, 0},
      {"train --resume " + saved + " --steps 5", 0},
      {"train --config " + config + " --plan", 0},
      {"train --config " + broken, 2},
      {"train --resume " + broken, 3},
      {"record --python", 0},
      {"record --names " + log, 0},
      {"record --names " + text, 3},
      {"record", 2},
      {"tape --config " + config, 0},
      {"tape --json --program evaluation --run A=post" + small, 0},
      {"tape --memory --check all --run A=post" + small, 0},
      {"tape --check nothing --run A=post" + small, 2},
      {"tape --config " + broken, 2},
      {"tape --config " + config + " --run A=post", 2},
      {"train --set model.layers=-1", 2},
      {"train --edit 3:nothing=1", 2},
      {"compare --config " + config + " --steps 3 --seeds 1 --out " + folder.file("out"), 0},
      {"compare --config " + none, 2},
      {"compare " + saved + " " + log + " --svg --png --csv --markdown --out " + folder.file("figures"), 0},
      {"compare " + saved + " " + broken, 3},
      {"compare " + saved + " " + log + " --align time --baseline A", 2},
      {"open " + none, 3},
      {"open " + text, 3},
      {"open", 2},
      {"verify " + kFixture, 0},
      {"verify " + broken, 3},
      {"measure " + saved + " --what loss", 0},
      {"measure " + broken + " --what loss", 3},
      {"evaluate " + saved + " --batches 2 --json", 0},
      {"evaluate " + saved + " --memory 8", 2},  // no relative positions
      {"evaluate " + broken, 3},
      {"train --run A=post" + small + " --set model.memory=16 --steps 3 --save " + remembering, 0},
      {"train --resume " + remembering + " --steps 5", 0},
      {"evaluate " + remembering + " --memory 0,16,40 --batches 3", 0},
      {"train --set data.name=copy --set data.consecutive=true", 2},
      {"train --preset parser --set model.layers=1 --set model.d_model=4 --set model.feed_forward=8"
       " --set train.batch=16 --steps 2 --save " +
           parser,
       0},
      {"train --treebank " + broken, 3},
      {"parse " + parser + " --out " + folder.file("trees.conllu"), 0},
      {"parse " + parser + " --input " + text, 3},
      {"parse " + saved, 3},
      {"parse " + broken, 3},
      {"average " + saved + " " + saved + " --out " + folder.file("mean.safetensors"), 0},
      {"bleu " + text + " " + text, 0},
      {"lesson list", 0},
      {"lesson check nothing", 2},
      {"lesson worksheet 1 --answers --out " + folder.file("sheet.html"), 0},
      {"lesson worksheet nothing", 2},
      {"bench --model nothing", 2},
      {"zoo --list", 0},
      {"zoo --only pre --depth 1 --seeds 1 --steps 4 --warmup 2" + small + " --out " + zoo, 0},
      {"zoo --only nothing", 2},
      {"zoo --only pre --shard 3/2", 2},
      {"zoo --only pre --shard 2/2", 2},
      {"sweep --axis train.lr=1e-3,1e-2 --axis train.warmup=0,2 --steps 4" + small + " --store " + zoo +
           "/sweep",
       0},
      {"sweep --axis train.lr=1e-3,1e-2 --stored --steps 4" + small + " --store " + zoo + "/sweep", 0},
      {"sweep warmup --print-command slurm", 0},
      {"sweep --axis train.lr=1e-3:nothing", 2},
      {"reproduce list --quick --store " + zoo + "/claims", 0},
      {"reproduce nothing", 2},
      {"reproduce list --claims " + none, 3},
      {"merge " + zoo + "/runs --store " + folder.file("merged"), 0},
      {"merge " + none + " --store " + folder.file("merged"), 3},
      {"screenshot --config " + config + " --steps 2 --size 1024x600 --out " + picture, 0},
      {"screenshot --config " + config + " --steps 4 --screen compare --out " + picture, 0},
      {"screenshot --link '1&run=A=post&set=model.d_model=16&set=model.feed_forward=32&set=model.sequence=16&"
       "set=train.batch=4&edit=2:train.lr=0.001&step=3&cursor=1&end' --size 1024x600 --out " +
           picture,
       0},
      {"screenshot --link '1&kitchen&end' --out " + picture, 2},
      {"--link 1.AAAA", 2},
      {"screenshot --config " + config + " --size nothing --out " + picture, 2},
      {"screenshot --config " + config + " --screen lesson:1:predict --out " + picture, 0},
      {"film " + config + " --seconds 2 --fps 1 --size 1024x600 --out " + picture, 0},
      {"film " + broken + " --out " + picture, 3},
      {"film " + config + " --out " + folder.file("lab.avi"), 2},
  };
  for (const auto& [arguments, code] : commands) check_exit(arguments, code);
}
