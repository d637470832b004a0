#include "addons/tape-screen/app/tape_writers.h"

#include <fmt/format.h>

#include <iterator>

namespace normscope::tape_screen {
namespace {

using nlohmann::json;

json json_of(const Shape& shape) { return std::vector<int64_t>(shape.dim, shape.dim + shape.rank); }

json json_of(const Place& place) {
  if (place.block.empty()) return nullptr;
  return {{"block", place.block}, {"offset", place.offset}, {"reused", place.reused}};
}

json json_of(const ListedInstruction& i) {
  json operands = json::array();
  for (const ListedOperand& o : i.operands) {
    json operand = {{"use", o.use}, {"value", o.value}, {"place", json_of(o.place)}};
    if (!o.write.empty()) operand["write"] = o.write;
    operands.push_back(std::move(operand));
  }
  json out = {{"phase", i.phase}, {"op", i.op}, {"name", i.name}, {"layer", i.layer}};
  out["node"] = i.node < 0 ? json(nullptr) : json(i.node);
  out["operands"] = std::move(operands);
  if (i.phase == "update") out["parameters"] = i.parameters;
  if (!i.stat.empty()) out["stat"] = i.stat;
  return out;
}

/// Counts and seconds; null where nothing was measured.
json json_of(const FoldSide& side, const Roofline& roof) {
  json out = {{"flop", side.cost.flop}, {"bytes", side.cost.bytes}};
  out["instruction"] = side.instruction < 0 ? json(nullptr) : json(side.instruction);
  out["seconds"] = side.seconds > 0 ? json(side.seconds) : json(nullptr);
  const double least = least_seconds(side.cost, roof);
  out["least_seconds"] = least > 0 ? json(least) : json(nullptr);
  return out;
}

json json_of(const std::vector<Difference>& differences) {
  json out = json::array();
  for (const Difference& d : differences)
    out.push_back({{"h", d.h}, {"numeric", d.numeric}, {"error", d.error}});
  return out;
}

std::string side_csv(const FoldSide& side, const Roofline& roof) {
  return fmt::format("{},{:.0f},{:.0f},{:.4g},{:.4g}", side.instruction, side.cost.flop, side.cost.bytes,
                     side.seconds, least_seconds(side.cost, roof));
}

}  // namespace

json to_json(const Listing& all) {
  json out = {{"parameters", json::array()}, {"values", json::array()}, {"nodes", json::array()}};
  for (const ListedParameter& p : all.parameters)
    out["parameters"].push_back({{"name", p.name},
                                 {"shape", json_of(p.shape)},
                                 {"layer", p.layer},
                                 {"trainable", p.trainable},
                                 {"place", json_of(p.place)}});
  for (const ListedValue& v : all.values)
    out["values"].push_back({{"name", v.name},
                             {"role", v.role},
                             {"type", v.type},
                             {"shape", json_of(v.shape)},
                             {"place", json_of(v.place)},
                             {"gradient", json_of(v.gradient)}});
  for (const ListedNode& n : all.nodes)
    out["nodes"].push_back({{"op", n.op},
                            {"name", n.name},
                            {"layer", n.layer},
                            {"inputs", n.inputs},
                            {"saved", n.saved},
                            {"shape", json_of(n.shape)}});
  out["instructions"] = json::array();
  for (const ListedInstruction& i : all.instructions) out["instructions"].push_back(json_of(i));
  out["stats"] = all.stats;
  out["totals"] = {{"numbers", all.numbers},
                   {"forward", all.forward},
                   {"backward", all.backward},
                   {"update", all.update},
                   {"floats",
                    {{"batch", all.batch},
                     {"store", all.store},
                     {"activations", all.activations},
                     {"gradients", all.gradients},
                     {"workspace", all.workspace}}}};
  return out;
}

json to_json(const Fold& fold, const Roofline& roof) {
  json out = {{"lines", json::array()}, {"groups", json::array()}, {"update", json::array()}};
  for (const FoldLine& l : fold.lines)
    out["lines"].push_back({{"name", l.name},
                            {"label", l.label},
                            {"op", to_string(l.op)},
                            {"layer", l.layer},
                            {"node", l.node},
                            {"shape", json_of(l.shape)},
                            {"bytes", l.bytes},
                            {"forward", json_of(l.forward, roof)},
                            {"backward", json_of(l.backward, roof)},
                            {"gradient_norm", l.gradient}});
  for (const FoldGroup& g : fold.groups)
    out["groups"].push_back({{"name", g.name},
                             {"depth", g.depth},
                             {"layer", g.layer},
                             {"lines", {g.first, g.end}},
                             {"bytes", g.bytes},
                             {"forward", json_of(g.forward, roof)},
                             {"backward", json_of(g.backward, roof)}});
  for (const FoldUpdate& u : fold.update)
    out["update"].push_back({{"op", to_string(u.op)}, {"side", json_of(u.side, roof)}});
  out["probes"] = fold.probes;
  out["roof"] = {{"flops", roof.flops}, {"bytes", roof.bytes}};
  out["sums"] = {{"forward", json_of(fold.forward, roof)},
                 {"backward", json_of(fold.backward, roof)},
                 {"update", json_of(fold.updates, roof)},
                 {"probes", json_of(fold.probed, roof)}};
  return out;
}

json to_json(const MemoryMap& map) {
  json out = {{"buffers", json::array()}, {"segments", json::array()}};
  for (const Buffer& b : map.buffers)
    out["buffers"].push_back({{"kind", to_string(b.kind)},
                              {"name", b.name},
                              {"layer", b.layer},
                              {"address", b.address},
                              {"bytes", b.bytes},
                              {"first", b.first},
                              {"last", b.last},
                              {"writers", b.writers},
                              {"readers", b.readers}});
  for (const MemorySegment& s : map.segments)
    out["segments"].push_back(
        {{"name", s.name}, {"address", s.address}, {"bytes", s.bytes}, {"apart", s.apart}});
  out["instructions"] = map.instructions;
  out["planned"] = map.planned;
  out["apart"] = map.apart;
  out["most"] = {{"bytes", map.most}, {"instruction", map.most_at}};
  return out;
}

json to_json(const NumericCheck& c) {
  return {{"op", to_string(c.op)},
          {"node", c.node},
          {"input", c.input},
          {"place", c.place},
          {"shape", json_of(c.shape)},
          {"element", c.element},
          {"value", c.value},
          {"analytic", c.analytic},
          {"central", json_of(c.central)},
          {"refined", json_of(c.refined)}};
}

json to_json(const ProgramChange& change) {
  json out = {
      {"came", change.came}, {"went", change.went}, {"rewired", change.rewired}, {"same", change.same}};
  out["instructions"] = json::array();
  for (const InstructionChange& c : change.all) {
    json one = {{"kind", to_string(c.kind)},
                {"phase", to_string(c.phase)},
                {"op", to_string(c.op)},
                {"name", c.name},
                {"layer", c.layer}};
    one["before"] = c.before < 0 ? json(nullptr) : json(c.before);
    one["after"] = c.after < 0 ? json(nullptr) : json(c.after);
    if (!c.words.empty()) one["words"] = c.words;
    out["instructions"].push_back(std::move(one));
  }
  return out;
}

json to_json(const TensorSummary& s) {
  json out = {{"count", s.count},        {"not_finite", s.not_finite},
              {"mean", s.mean},          {"deviation", s.deviation},
              {"norm", s.norm},          {"low", s.low},
              {"high", s.high},          {"limit", s.limit},
              {"histogram", s.histogram}};
  out["first_not_finite"] = s.first_not_finite < 0 ? json(nullptr) : json(s.first_not_finite);
  return out;
}

std::string fold_csv(const Fold& fold, const Roofline& roof) {
  std::string out =
      "name,op,layer,shape,bytes,forward,forward_flop,forward_bytes,forward_seconds,forward_least_seconds,"
      "backward,backward_flop,backward_bytes,backward_seconds,backward_least_seconds,gradient_norm\n";
  for (const FoldLine& line : fold.lines)
    fmt::format_to(std::back_inserter(out), "{},{},{},\"{}\",{},{},{},{:.6g}\n", line.name,
                   to_string(line.op), line.layer, to_string(line.shape), line.bytes,
                   side_csv(line.forward, roof), side_csv(line.backward, roof), line.gradient);
  return out;
}

}  // namespace normscope::tape_screen
