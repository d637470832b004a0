#include "engine/cpu/tails.h"

#include <algorithm>

namespace normscope::cpu {
namespace {

/// The tensor that the regions of an instruction are part of.
const Tensor& result_of(const Call& call) { return call.phase == Phase::Backward ? call.din[0] : call.out; }

}  // namespace

TailFinder::TailFinder(const Call& head, const Stages& stages) : phase_(head.phase) {
  if (stages.count == 0) return;
  const Stage& last = stages.stage[stages.count - 1];
  shape_ = result_of(head).shape;
  possible_ = last.region != nullptr && last.chunks > 0;
  Call planned = head;
  planned.extra = stages.plans;
  whole_rows_ = possible_ && last.region(planned, 0).cols == shape_.cols();
  std::vector<Range> writes;
  collect(head, seen_, writes);
  seen_.insert(seen_.end(), writes.begin(), writes.end());
}

bool TailFinder::takes(const Call& call, const Stages& stages) {
  const Shape& shape = result_of(call).shape;
  possible_ = possible_ && stages.region && call.phase == phase_ && shape.rows() == shape_.rows() &&
              shape.cols() == shape_.cols() && (whole_rows_ || !stages.whole_rows);
  if (!possible_) return false;
  std::vector<Range> reads, writes;
  collect(call, reads, writes);
  possible_ = !meets(writes);
  seen_.insert(seen_.end(), reads.begin(), reads.end());
  seen_.insert(seen_.end(), writes.begin(), writes.end());
  return possible_;
}

bool TailFinder::lets(const Call& probe) {
  std::vector<Range> writes;
  collect(probe, seen_, writes);
  return possible_ && probe.phase == phase_;
}

void TailFinder::collect(const Call& call, std::vector<Range>& reads, std::vector<Range>& writes) {
  const auto add = [](const Tensor& t, std::vector<Range>& to) {
    if (t) to.push_back({t.p, t.p + t.shape.size()});
  };
  const bool backward = call.phase == Phase::Backward && traits_of(call.op).duty != Duty::Probe;
  for (const Tensor& t : call.in) add(t, reads);
  add(call.dout, reads);
  add(call.out, backward ? reads : writes);
  for (const Tensor& t : call.saved) add(t, backward ? reads : writes);
  for (int i = 0; i < kMaxInputs; ++i)
    if (call.write[i] != Write::Skip) add(call.din[i], writes);
}

bool TailFinder::meets(const std::vector<Range>& writes) const {
  return std::ranges::any_of(writes, [&](const Range& w) {
    return std::ranges::any_of(seen_, [&](const Range& s) { return w.begin < s.end && s.begin < w.end; });
  });
}

}  // namespace normscope::cpu
