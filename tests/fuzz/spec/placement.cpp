// A file of a placement: what is accepted fills a stack, which is written and read back equal.
#include "fuzz.h"
#include "training/files/placement_file.h"

using namespace normscope;

FUZZ_TARGET(placement) {
  PlacementFile file;
  if (!fuzz::accepts([&] { file = parse_placement(input, "fuzz.toml"); })) return;
  for (const StackContext context : {StackContext{true, 5, 0}, {true, 3, 2}, {false, 4, 2}}) {
    const StackWiring stack = preset_stack(file.row(), NormKind::LayerNorm, context);
    const PlacementFile again =
        parse_placement(placement_text("again", "", stack, NormKind::LayerNorm, context), "written.toml");
    fuzz::require(preset_stack(again.row(), NormKind::LayerNorm, context) == stack,
                  "a placement is another one after its way to a file and back");
  }
}
