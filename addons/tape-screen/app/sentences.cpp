#include "addons/tape-screen/app/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/ops/ops.h"

namespace normscope::tape_screen {
namespace {

using ui::grouped;
using ui::number;

constexpr double kOneVector = 0.05;  // rows that differ by less, relative to their size, are said to be one

const ShownTensor* signed_as(const std::vector<ShownTensor>& list, std::string_view sign) {
  const auto found =
      std::ranges::find_if(list, [&](const ShownTensor& t) { return t.sign == sign && t.there; });
  return found == list.end() ? nullptr : &*found;
}

double root_mean_square_of(const ShownTensor& t) {
  return t.summary.count > 0 ? t.summary.norm / std::sqrt(static_cast<double>(t.summary.count)) : 0;
}

bool is_parameter(const StepPlayer& player, const ShownTensor& t) {
  return player.data().values[static_cast<size_t>(t.id.value)].role == Role::Parameter;
}

/// Whether the tensor still holds what this instruction wrote, and nothing of others.
bool is_alone(const StepPlayer& player, const InstructionView& shown, const ShownTensor& t) {
  if (t.adds) return false;
  for (size_t i = shown.instruction + 1; i < shown.position; ++i)
    for (const TensorId other : player.writes(i))
      if (other == t.id) return false;
  return true;
}

/// Says "a 5.2× smaller gradient than".
std::string against(double given, double received) {
  const double factor = given / received;
  if (std::abs(factor - 1) < 0.02) return tr("as large a gradient as");
  return tr(factor < 1 ? "a {times}× smaller gradient than" : "a {times}× larger gradient than",
            {{"times", number(std::max(factor, 1 / factor), 2)}});
}

/// Says "σ of x is 5" where the norm divides by it; empty otherwise.
std::string sigma_words(const InstructionView& shown, const std::vector<ShownTensor>& list) {
  const ShownTensor *sigma = signed_as(list, "1/σ"), *rho = signed_as(list, "1/ρ");
  const ShownTensor* t = sigma ? sigma : rho;
  if (shown.op != OpKind::LayerNorm || !t || !(t->summary.mean > 0)) return "";
  const char* letter = sigma ? "σ" : "ρ";
  if (t->summary.deviation < 0.05 * t->summary.mean)
    return tr("{letter} of x is {value}", {{"letter", letter}, {"value", number(1 / t->summary.mean, 2)}});
  return tr("1/{letter} of x is {value} on average",
            {{"letter", letter}, {"value", number(t->summary.mean, 2)}});
}

double share_above_zero(const StepPlayer& player, const ShownTensor& t) {
  const std::vector<float> values = player.read(t.id);
  const auto above = std::ranges::count_if(values, [](float v) { return v > 0; });
  return values.empty() ? 0 : static_cast<double>(above) / static_cast<double>(values.size());
}

double share_of_zeros(const StepPlayer& player, const ShownTensor& t) {
  const std::vector<float> values = player.read(t.id);
  const auto zeros = std::ranges::count(values, 0.f);
  return values.empty() ? 0 : static_cast<double>(zeros) / static_cast<double>(values.size());
}

std::string percent(double share) { return fmt::format("{} %", number(100 * share, 2)); }

double stat_of(StepPlayer& player, int32_t stat) {
  const std::span<const double> stats = player.program().stats();
  return stat >= 0 && static_cast<size_t>(stat) < stats.size() ? stats[static_cast<size_t>(stat)] : NAN;
}

std::string why(StepPlayer& player, const InstructionView& shown) {
  if (const std::string sigma = sigma_words(shown, shown.reads); !sigma.empty()) return ": " + sigma;
  const ShownTensor* x = signed_as(shown.reads, "x");
  if (shown.op == OpKind::Relu && x)
    return tr(": x is above 0 in {share} of its numbers", {{"share", percent(share_above_zero(player, *x))}});
  return "";
}

std::string backward_sentence(StepPlayer& player, const InstructionView& shown) {
  const auto arrives =
      std::ranges::find_if(shown.reads, [](const ShownTensor& t) { return t.id.gradient && t.there; });
  std::vector<const ShownTensor*> given;
  for (const ShownTensor& t : shown.writes)
    if (!is_parameter(player, t) && t.there) given.push_back(&t);
  if (given.empty() && (shown.writes.empty() || !shown.writes[0].there)) return tr("It writes no gradient.");
  if (given.empty())
    return tr(is_alone(player, shown, shown.writes[0])
                  ? "The gradient ends here: {tensor} has the size {norm}."
                  : "The gradient ends here: {tensor} with all that is added has the size {norm}.",
              {{"tensor", shown.writes[0].sign}, {"norm", number(shown.writes[0].summary.norm)}});
  if (shown.op == OpKind::SoftmaxXent && is_alone(player, shown, *given[0]))
    return tr("The gradient begins here: at the logits its norm is {norm}.",
              {{"norm", number(given[0]->summary.norm)}});
  if (arrives == shown.reads.end()) return "";
  const double received = arrives->summary.norm;
  const bool own = is_alone(player, shown, *given[0]);
  if (given.size() == 1 && own && received > 0 && given[0]->summary.norm > 0)
    return tr("It passes on {than} it receives{why}.",
              {{"than", against(given[0]->summary.norm, received)}, {"why", why(player, shown)}});
  std::string text = tr("It receives a gradient of size {norm}", {{"norm", number(received)}});
  for (size_t i = 0; i < given.size(); ++i) {
    const bool alone = is_alone(player, shown, *given[i]);
    text += i == 0 ? ";" : i + 1 < given.size() ? "," : tr(" and");
    text += tr(alone ? " {tensor} has {norm}" : " {tensor} with all that is added has {norm}",
               {{"tensor", given[i]->sign}, {"norm", number(given[i]->summary.norm)}});
  }
  return text + ".";
}

std::string change_words(const char* in, const ShownTensor& x, const ShownTensor& y) {
  return tr("Root mean square of {in} {before}, of {out} {after}",
            {{"in", in},
             {"before", number(root_mean_square_of(x))},
             {"out", y.sign},
             {"after", number(root_mean_square_of(y))}});
}

std::string forward_sentence(StepPlayer& player, const InstructionView& shown) {
  const ShownTensor& y = shown.writes.front();
  const ShownTensor *x = signed_as(shown.reads, "x"), *f = signed_as(shown.reads, "f");
  switch (shown.op) {
    case OpKind::SoftmaxXent:
      return tr("The loss of this batch is {loss} nats.", {{"loss", number(y.summary.mean, 4)}});
    case OpKind::Embedding: {
      // A parser joins a state's features in one row, so the rows of y do not count what was looked up.
      const ShownTensor* tokens = signed_as(shown.reads, "token");
      return tr("It looks up {tokens} tokens: root mean square {value}.",
                {{"tokens", grouped(tokens ? tokens->shape.size() : y.shape.rows())},
                 {"value", number(root_mean_square_of(y))}});
    }
    case OpKind::Relu:
      return x ? tr("It keeps the {share} of the numbers that are above 0 and makes the others 0.",
                    {{"share", percent(share_above_zero(player, *x))}})
               : "";
    case OpKind::Dropout:
      return tr("{share} of what it hands on is 0.", {{"share", percent(share_of_zeros(player, y))}});
    case OpKind::Concat:
      return tr("It puts {rows} rows behind each other.", {{"rows", grouped(y.shape.rows())}});
    case OpKind::Multiply:
      if (const ShownTensor* a = signed_as(shown.reads, "a")) return change_words("a", *a, y) + ".";
      return "";
    case OpKind::Add:
      if (x && f)
        return tr("Root mean square of x {x}, of f {f}, of y {y}.", {{"x", number(root_mean_square_of(*x))},
                                                                     {"f", number(root_mean_square_of(*f))},
                                                                     {"y", number(root_mean_square_of(y))}});
      return "";
    default:
      break;
  }
  if (traits_of(shown.op).saves_for_inspection)  // an attention
    if (const ShownTensor* v = signed_as(shown.reads, "v")) return change_words("v", *v, y) + ".";
  if (!x) return "";
  const std::string sigma = sigma_words(shown, shown.writes);
  return change_words("x", *x, y) + (sigma.empty() ? "." : ": " + sigma + ".");
}

std::string update_sentence(StepPlayer& player, const InstructionView& shown) {
  const ProgramData& program = player.data();
  if (shown.op == OpKind::GradNorm)
    return tr("All gradients together have the size {norm}.",
              {{"norm", number(stat_of(player, program.total_grad_norm_stat))}});
  if (shown.op == OpKind::Clip) {
    const double factor = stat_of(player, program.clip_stat);
    return factor >= 1 ? tr("The norm is within its bound: no gradient is changed.")
                       : tr("Every gradient is multiplied by {factor}.", {{"factor", number(factor)}});
  }
  int64_t weights = 0, tensors = 0;
  for (size_t v = 0; v < program.values.size(); ++v) {
    if (program.values[v].role != Role::Parameter || program.plan.gradient_offset[v] == kNoOffset) continue;
    weights += program.values[v].shape.size();
    ++tensors;
  }
  return tr("It changes {weights} weights in {tensors} tensors.",
            {{"weights", grouped(weights)}, {"tensors", grouped(tensors)}});
}

/// Tells of numbers that are not finite, which go before everything else.
std::string broken_sentence(const InstructionView& shown) {
  for (const ShownTensor& t : shown.writes)
    if (t.there && t.summary.not_finite > 0)
      return tr("{wrong} of {all} numbers of {tensor} are not finite, the first at [{at}].",
                {{"wrong", grouped(static_cast<long long>(t.summary.not_finite))},
                 {"all", grouped(static_cast<long long>(t.summary.count))},
                 {"tensor", t.sign},
                 {"at", t.summary.first_not_finite}});
  return "";
}

/// How far the rows of x are from their mean, relative to their size; NaN where that says nothing.
double spread_of_rows(const StepPlayer& player, const ShownTensor& x) {
  const auto columns = static_cast<size_t>(x.shape.cols());
  if (x.shape.rank < 2 || columns == 0 || x.shape.rows() < 2 || x.summary.not_finite > 0) return NAN;
  const std::vector<float> values = player.read(x.id);
  const size_t rows = values.size() / columns;
  std::vector<double> mean(columns, 0);
  for (size_t i = 0; i < values.size(); ++i) mean[i % columns] += static_cast<double>(values[i]);
  double apart = 0, whole = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto v = static_cast<double>(values[i]);
    const double off = v - mean[i % columns] / static_cast<double>(rows);
    apart += off * off;
    whole += v * v;
  }
  return whole > 0 ? std::sqrt(apart / whole) : NAN;
}

}  // namespace

std::string short_name(const std::string& name, int32_t layer) {
  const std::string prefix = fmt::format("L{:02}.", layer);
  const size_t at = layer > 0 ? name.find(prefix) : name.npos;
  return at == name.npos ? name : name.substr(at + prefix.size());
}

std::string sentence_of(StepPlayer& player, const InstructionView& shown) {
  if (shown.position <= shown.instruction) return tr("Not executed yet.");
  if (const std::string broken = broken_sentence(shown); !broken.empty()) return broken;
  if (shown.op == OpKind::Probe) {
    const Instruction& it = player.data().instructions[shown.instruction];
    if (it.stat < 0) return "";
    return tr("It changes nothing: {what} is {value}.",
              {{"what", player.data().stats[static_cast<size_t>(it.stat)].name},
               {"value", number(stat_of(player, it.stat))}});
  }
  if (shown.phase == Phase::Forward) return forward_sentence(player, shown);
  if (shown.phase == Phase::Backward) return backward_sentence(player, shown);
  return update_sentence(player, shown);
}

std::string note_of(StepPlayer& player, const InstructionView& shown) {
  if (shown.position <= shown.instruction) return "";
  if (const ShownTensor* x = signed_as(shown.reads, "x"); x && shown.op == OpKind::LayerNorm) {
    const double spread = spread_of_rows(player, *x);
    if (spread < kOneVector)
      return tr("x is nearly one vector at all {positions} positions, to {spread}.",
                {{"positions", grouped(x->shape.rows())}, {"spread", number(spread, 1)}});
  }
  std::string text;
  if (shown.phase != Phase::Backward) return text;
  for (const ShownTensor& t : shown.writes)
    if (is_parameter(player, t) && t.there && is_alone(player, shown, t))
      text += tr(text.empty() ? "‖{tensor}‖ is {norm}" : ", ‖{tensor}‖ {norm}",
                 {{"tensor", t.sign}, {"norm", number(t.summary.norm)}});
  return text.empty() ? text : text + ".";
}

}  // namespace normscope::tape_screen
