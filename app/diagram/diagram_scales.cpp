#include "app/diagram/diagram_scales.h"

#include <fmt/format.h>

#include <cmath>

#include "app/diagram/diagram.h"
#include "app/ui/numbers.h"
#include "app/words/words.h"
#include "engine/model/residual.h"

namespace normscope::diagram {
namespace {

std::string when(const ScalesNow& now) {
  return now.step < 0 ? tr("now") : tr("at step {step}", {{"step", now.step}});
}

std::string started(float value) {
  return tr("It started at {value}.", {{"value", ui::significant(value, 4)}});
}

// Has `decimals` below one, two up to ten and one from there on, so that it never outgrows its pill.
std::string number_of(float value, int decimals = 2) {
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  const float size = std::abs(value);
  return ui::decimals(value, size >= 9.995f ? 1 : size < 0.9995f ? decimals : 2);
}

ScaleWords constant(const std::string& symbol, float value, const char* said) {
  return {symbol + number_of(value), tr(said, {{"value", ui::significant(value, 4)}})};
}

}  // namespace

ScalesNow scales_at(view::LabData& data, const RunView& run, view::Side side, int layer, view::Sub sub,
                    int step) {
  const std::string name =
      fmt::format("{}L{:02}.{}", view::prefix_of(run, side), layer + 1, view::to_string(sub));
  const auto then = [&](const std::string& number) { return data.value(run, name + number, step); };
  std::optional<float> factor;
  for (const ResidualRow* row : residual_rows())
    if (!row->factor.empty()) factor = then(fmt::format(".{}", row->word));
  if (run.history && step < run.history->last_step())  // a run as it stood then, or the newest one
    return {then(".skip.mean"), then(".branch.mean"), factor, step};
  const size_t index = view::sublayer_index(run.spec->model, side, layer, sub);
  ScalesNow now;
  now.factor = factor;
  if (index < run.skip_scales.size()) now.skip = run.skip_scales[index];
  if (index < run.branch_scales.size()) now.branch = run.branch_scales[index];
  return now;
}

ScaleWords skip_words(const Wiring& wiring, const ScalesNow& scales) {
  const Scale& scale = wiring.skip;
  if (const ResidualRow* form = factor_of(wiring); form && scale.kind == Scale::Kind::One) {
    const std::string value = number_of(scales.factor.value_or(1));
    return {fmt::format("{} {}", form->factor, value),
            tr("γ = 1 − SiLU(a), with one learned a for each layer: what GPAS multiplies the stream by, "
               "{value} {when}. The gradient passes unscaled. It started at 1.",
               {{"value", value}, {"when", when(scales)}})};
  }
  if (wiring.branch.kind == Scale::Kind::Toward) {
    const std::string value = number_of(scales.skip.value_or(1 - wiring.branch.value));
    return {value,
            tr("1 − α, what the branch’s share α leaves: it multiplies the skip path; averaged over the "
               "features it is {value} {when}.",
               {{"value", value}, {"when", when(scales)}})};
  }
  if (scale.kind == Scale::Kind::One) return {};
  if (scale.kind == Scale::Kind::Constant)
    return constant("α ", scale.value,
                    "A constant, {value}: what the skip path is multiplied by before the sum.");
  const float now = scales.skip.value_or(scale.value);
  const bool measured = scale.profile != Scale::Profile::None;
  const char* symbol = measured ? "ω" : "λ";  // as their papers write it: Admin, NormFormer
  return {fmt::format("{} {}", symbol, number_of(now)),
          tr(scale.kind == Scale::Kind::LearnedVector
                 ? "{symbol}, learned: what the skip path is multiplied by before the sum, one a feature; "
                   "this is their mean {when}. {start}"
                 : "{symbol}, learned: what the skip path is multiplied by before the sum, one number; this "
                   "is its value {when}. {start}",
             {{"symbol", symbol},
              {"when", when(scales)},
              {"start", measured ? tr("Its start was measured on a first batch.") : started(scale.value)}})};
}

ScaleWords branch_words(const Wiring& wiring, const ScalesNow& scales) {
  constexpr int kFine = 3;  // a scale that grows from zero is seen to move
  const Scale& scale = wiring.branch;
  if (scale.kind == Scale::Kind::One) return {};
  if (scale.kind == Scale::Kind::Constant)
    return constant("×", scale.value,
                    "A constant, {value}: what the branch is multiplied by before the sum.");
  const float now = scales.branch.value_or(scale.value);
  const char* symbol = wiring.inner.shifts ? "s" : "α";  // as their papers write it: FixUp, ReZero
  return {fmt::format("{} {}", symbol, number_of(now, kFine)),
          tr(scale.kind == Scale::Kind::Toward
                 ? "{symbol}, learned: how far each feature of the stream goes toward the branch, {value} "
                   "of the way on average {when}. {start}"
                 : "{symbol}, learned: what the branch is multiplied by before it is added, {value} {when}. "
                   "{start}",
             {{"symbol", symbol},
              {"value", number_of(now, kFine)},
              {"when", when(scales)},
              {"start", started(scale.value)}})};
}

void tell_scales(ui::Ui& ui, const DiagramState& state, const DiagramInput& input,
                 const StackLayout& stack_layout, const view::Stacks& stacks, const ui::Rect& clip) {
  const RunView& run = input.view.runs[static_cast<size_t>(shown_run(state, input.view))];
  const auto tell = [&](const ui::Rect& pill, const ScaleWords& words, const std::string& name) {
    if (words.text.empty() || !clip.contains(pill.centre())) return;
    ui.tell(name, pill, words.text, words.help);
  };
  for (const RowLayout& row : stack_layout.rows)
    for (const SublayerLayout& s : row.subs) {
      const Wiring& wiring = view::wiring_of(stacks.wiring(stack_layout.side), row.row.first, s.sub);
      const ScalesNow now =
          state.pending ? ScalesNow{}
                        : scales_at(input.data, run, stack_layout.side, row.row.first, s.sub, input.step);
      const std::string place = fmt::format("diagram/{}layer{}/{}/", view::side_prefix(stack_layout.side),
                                            row.row.first + 1, view::to_string(s.sub));
      tell(s.pill, skip_words(wiring, now), place + "skip-scale");
      tell(s.branch_pill, branch_words(wiring, now), place + "branch-scale");
    }
}

}  // namespace normscope::diagram
