// One loss of one run at one step is one number: its mean's window in the Lab, in Compare and at the command line.
#include <memory>

#include "addons/compare/app/comparison.h"
#include "app/commands/report.h"
#include "app/panels/plot_specs.h"
#include "app/support/lab_fixture.h"
#include "app/view/lab_data.h"
#include "catch.hpp"
#include "training/data/data_identity.h"
#include "training/spec/loss_window.h"

namespace normscope {

TEST_CASE("loss window: 25 losses, fewer at first, and none of the network before a change") {
  CHECK(loss_window(1, {}) == 1);
  CHECK(loss_window(24, {}) == 24);
  CHECK(loss_window(300, {}) == kLossWindow);
  const std::vector<Edit> edits{{101, "wiring.L01.attn", "before=layernorm"}, {110, "train.lr", "1e-3"}};
  CHECK(loss_window(100, edits) == kLossWindow);  // nothing was changed by then
  CHECK(loss_window(101, edits) == 1);
  CHECK(loss_window(112, edits) == 12);  // a rate makes no other network
  CHECK(loss_window(200, edits) == kLossWindow);
  CHECK(loss_window(105, {{103, "somebody.elses.key", "1"}}) == kLossWindow);
}

TEST_CASE("loss window: card, Compare and table have one number, at the cursor too") {
  view::LabData data;
  const auto view = fixture::lab_view();
  compare::LiveRuns live;
  std::vector<records::Recording> runs;
  for (const RunView& run : view->runs) runs.push_back(*live.take(*view, run.letter));
  const compare::Comparison all = compare::compare(runs);
  const std::shared_ptr<const Task> task = make_task({});
  for (size_t i = 0; i < view->runs.size(); ++i) {
    const RunView& run = view->runs[i];
    INFO(run.letter);
    for (const compare::EndRow& row : all.rows)
      if (row.run == i) CHECK(row.loss == Approx(run.loss).epsilon(1e-6));
    const commands::RunResult result =
        commands::result_of({run.letter, 1}, *run.spec, run.edits, run.state, *run.history, *task, 3.0, 1.0);
    CHECK(result.loss == Approx(run.loss).epsilon(1e-6));
    CHECK(result.window == kLossWindow);
    const RunView then = view::run_at(data, run, 100);
    double mean = 0;
    for (int step = 76; step <= 100; ++step) mean += fixture::loss_at(static_cast<int>(i), step) / 25;
    CHECK(then.loss == Approx(mean).epsilon(1e-5));
  }
}

TEST_CASE("loss window: a label has the number of the line where it stands, wherever the cursor is") {
  view::LabData data;
  const auto view = fixture::lab_view();
  for (const int step : {view->step, 100}) {
    const auto plot = panels::loss_plot(view::view_at(data, *view, step), data, {.step = step});
    for (const plot::Series& series : plot.series) {
      CHECK(series.value == fmt::format("{:.2f}", series.y[series.y.size() - 1]));
      CHECK(series.decimals == 2);
    }
  }
}

TEST_CASE("loss window: just after a fork the number is of its own losses alone") {
  view::LabData data;
  auto view = std::make_shared<LabView>(*fixture::lab_view({.step = 153, .fork = true}));
  RunView& fork = view->runs[3];
  fork.edits = {{151, "model.placement", "pre"}};
  double own = 0;
  for (int step = 151; step <= 153; ++step) own += fixture::loss_at(2, step) / 3;
  CHECK(view::loss_at(data, fork, 153) == Approx(own).epsilon(1e-5));
}

TEST_CASE("data identity: by the hash, else by the name, and never with another number of symbols") {
  const DataIdentity ours{"corpus.txt", "00000000000000aa", 29, "letter"};
  CHECK(same_data(ours, ours) == SameData::Same);
  CHECK(same_data(ours, {"renamed.txt", "00000000000000aa", 29, ""}) == SameData::Same);
  CHECK(same_data(ours, {"corpus.txt", "00000000000000ab", 29, ""}) == SameData::Other);
  CHECK(same_data(ours, {"corpus.txt", "", 0, ""}) == SameData::Same);
  CHECK(same_data(ours, {"web text", "", 0, ""}) == SameData::Other);
  CHECK(same_data(ours, {"corpus.txt", "", 138, ""}) == SameData::Other);
  CHECK(same_data(ours, {}) == SameData::Unknown);
  CHECK(same_data({}, {}) == SameData::Unknown);
  CHECK(to_words(ours) == "corpus.txt, 29 symbols");
  const DataIdentity built_in = identity_of({}, *make_task({}));
  CHECK(built_in.name == "built-in sentences");
  CHECK(built_in.hash.size() == 16);
  CHECK(built_in.unit == "letter");
  CHECK(frequencies_of(built_in.unit) == "letter frequencies");
  CHECK(nats_per("") == "nats per symbol");
}

TEST_CASE("data: what a symbol is can be said without reading them") {
  for (const char* name :
       {"corpus", "copy", "reverse", "sort", "word-order", "mood", "digits", "treebank", "translation"}) {
    DataSpec spec;
    spec.name = name;
    INFO(name);
    CHECK(unit_of(spec) == make_task(spec)->unit());
  }
  DataSpec masked;
  masked.form = TaskForm::Masked;
  CHECK(unit_of(masked) == make_task(masked)->unit());
}

}  // namespace normscope
