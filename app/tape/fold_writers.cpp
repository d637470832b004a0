#include "app/tape/fold_writers.h"

#include <fmt/format.h>

#include <iterator>

namespace normscope::tape {
namespace {

std::string side_csv(const FoldSide& side, const Roof& roof) {
  return fmt::format("{},{:.0f},{:.0f},{:.4g},{:.4g}", side.instruction, side.cost.flop, side.cost.bytes,
                     side.seconds, least_seconds(side.cost, roof));
}

}  // namespace

std::string fold_csv(const Fold& fold, const Roof& roof) {
  std::string out =
      "name,op,layer,shape,bytes,forward,forward_flop,forward_bytes,forward_seconds,forward_least_seconds,"
      "backward,backward_flop,backward_bytes,backward_seconds,backward_least_seconds,gradient_norm\n";
  for (const FoldLine& line : fold.lines)
    fmt::format_to(std::back_inserter(out), "{},{},{},\"{}\",{},{},{},{:.6g}\n", line.name,
                   to_string(line.op), line.layer, to_string(line.shape), line.bytes,
                   side_csv(line.forward, roof), side_csv(line.backward, roof), line.gradient);
  return out;
}

}  // namespace normscope::tape
