// The link sessions are random, for the tests of links: what a user can make of one to four runs. The same seed gives
// the same session.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "app/link/link.h"
#include "training/spec/unused_settings.h"

namespace normscope::fixture {

class RandomSession {
 public:
  explicit RandomSession(unsigned seed) : random_(seed) {}

  // Gives all runs `layers` layers; 0: at random. With `own` every run has a wiring of its own, each norm at
  // random.
  link::LinkedView make(int layers, bool own, int edits) {
    link::LinkedView view;
    const int runs = own ? 4 : 1 + below(4);
    const int depth = layers > 0 ? layers : 1 + below(12), steps = 100 * (3 + below(20));
    view.step = below(steps + 1);
    for (int i = 0; i < runs; ++i) {
      ConfigRun run{static_cast<char>('A' + i),
                    preset_run(one_of({"post", "post-warmup", "pre", "rezero", "sandwich"})),
                    {}};
      set_field(run.spec, "model.layers", std::to_string(depth));
      set_field(run.spec, "train.steps", std::to_string(steps));
      settings(run.spec);
      if (own || below(3) == 0) wire(run.spec);
      for (int n = 0; n < edits && view.step > n; ++n) run.edits.push_back(edit(view.step));
      std::stable_sort(run.edits.begin(), run.edits.end(),
                       [](const Edit& a, const Edit& b) { return a.step < b.step; });
      view.runs.push_back(std::move(run));
    }
    look(view);
    return view;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string one_of(const std::vector<std::string>& all) {
    return all[static_cast<size_t>(below(static_cast<int>(all.size())))];
  }
  std::string real(double most) { return fmt::format("{:.6g}", most * (1 + below(1'000'000)) / 1e6); }

  void settings(RunSpec& spec) {
    const std::pair<const char*, std::string> all[] = {
        {"train.lr", real(0.01)},
        {"train.warmup", std::to_string(below(400))},
        {"train.schedule", one_of({"constant", "inverse-sqrt", "linear", "cosine"})},
        {"train.optimizer", one_of({"adam", "adamw", "radam", "sgd", "momentum"})},
        {"train.beta1", real(0.99)},
        {"train.beta2", real(0.99)},
        {"train.weight_decay", real(0.1)},
        {"train.clip", real(2)},
        {"train.label_smoothing", real(0.2)},
        {"train.batch", std::to_string(1 + below(64))},
        {"model.dropout_residual", real(0.3)},
        {"model.norm", one_of({"ln", "rms", "simple", "adanorm", "dyt"})},
        {"model.activation", one_of({"relu", "gelu", "gelu_erf", "silu"})},
        {"model.heads", one_of({"1", "2", "8"})},
        {"model.feed_forward", std::to_string(16 + below(500))},
        {"model.sequence", std::to_string(8 + 4 * below(30))},
        {"run.seed", std::to_string(below(100000))},
        {"run.name", one_of({"mine", "a & b = 100 % of #1 + more", "pre\xe2\x80\x93post, \xc3\xa4", "x"})}};
    set_field(spec, "train.decay_end", std::to_string(1000 + below(5000)));  // behind every warm-up
    for (const auto& [key, value] : all)
      if (below(3) == 0) set_field(spec, key, value);
  }

  void wire(RunSpec& spec) {
    StackWiring& stack = spec.model.stack();
    for (LayerWiring& layer : stack.layers)
      for (Wiring* wiring : {&layer.attention, &layer.feed_forward})
        for (WiredNorm* norm : {&wiring->before, &wiring->after, &wiring->stream}) *norm = kind();
    stack.final = kind();
    complete(spec);
  }
  NormKind kind() {
    return norm_from(
        one_of({"none", "ln", "simple", "rms", "detach", "detach-mean", "detach-var", "adanorm", "dyt"}));
  }

  Edit edit(int last) {
    const int step = 1 + below(last);
    switch (below(4)) {
      case 0:
        return {step, "train.warmup", std::to_string(below(400))};
      case 1:
        return {step, "train.clip", real(3)};
      case 2:
        return {step, fmt::format("wiring.L01.{}", one_of({"attn", "ffn"})),
                one_of({"stream=ln", "before=rms", "none"})};
      default:
        return {step, "train.lr", real(0.01)};
    }
  }

  void lesson(link::LinkedView& view) {
    view.lesson = "warm-up:compare";
    if (below(2) == 0) view.figure = "losses";
    const int kind = below(3);
    if (kind == 1) view.answer.value = 0.25 * below(1000);
    if (kind == 2) view.answer.order = {"pre", "post-warmup", "post"};
  }

  void look(link::LinkedView& view) {
    view.dark = below(2) == 0;
    view.screen = static_cast<Screen>(below(static_cast<int>(kScreens)));
    if (view.screen == Screen::Lessons && below(2) == 0) lesson(view);
    if (view.step > 0 && below(2) == 0) view.cursor = below(view.step);
    view.shown = view.runs[static_cast<size_t>(below(static_cast<int>(view.runs.size())))].letter;
    for (int step = 10; step < view.step && below(3) != 0; step += 1 + below(90))
      view.bookmarks.push_back(step);
  }

  std::mt19937 random_;
};

// Says that the runs differ in nothing that training reads.
inline bool trains_alike(const ConfigRun& a, const ConfigRun& b) {
  if (a.letter != b.letter || a.edits != b.edits || a.spec.name != b.spec.name) return false;
  const std::vector<Edit> differ = edits_between(a.spec, b.spec, 0);
  return std::all_of(differ.begin(), differ.end(), [&](const Edit& edit) {
    return a.edits.empty() && !unused_reason(a.spec, edit.key).empty();
  });
}

}  // namespace normscope::fixture
