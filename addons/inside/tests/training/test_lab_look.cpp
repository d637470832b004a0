// A look inside is taken part by part: what is quick is there first, a newer look comes before what takes long, and
// what trains goes on from the same bits.
#include "addons/inside/training/inside.h"
#include "sanitized.h"
#include "training/support/lab_runs.h"

namespace normscope::test {

TEST_CASE(
    "inside: a look is the stream first, then the lenses, the spectra, and what is left out, heads last") {
  const auto run = make_run(small_spec("pre"), 3);
  InsideLook look(*run, nullptr, {.left_out = true, .spectra_of = 1, .backward_lens = true});
  REQUIRE(look.next());
  CHECK(look.worth_showing());
  CHECK(look.found()->found.tokens.size() >= 2);  // they stand there while the model reads
  CHECK(look.found()->found.sublayers.empty());
  REQUIRE(look.next());
  const auto first = look.found();
  const size_t layers = static_cast<size_t>(run->spec().model.stack().layers.size());
  const size_t heads = layers * static_cast<size_t>(run->spec().model.heads);
  CHECK_FALSE(first->whole);
  CHECK(first->found.sublayers.size() == 2 * layers);
  CHECK_FALSE(first->found.gradients.empty());
  CHECK(first->found.lens.empty());
  CHECK(look.parts() == 1 + 1 + (layers + 1) + 2 * layers + 1 + 3 * layers +
                            heads);  // lenses with the embedding's, and the spectra
  while (look.found()->found.lens.size() < layers + 1) REQUIRE(look.next());
  CHECK(look.found()->found.backward_lens.empty());
  while (look.found()->found.backward_lens.size() < 2 * layers) REQUIRE(look.next());
  CHECK_FALSE(look.found()->spectra_of);
  REQUIRE(look.next());
  CHECK(look.found()->spectra_of == 1);
  CHECK(look.found()->found.left_out.empty());
  CHECK(look.worth_showing());
  for (size_t part = 0; part < 3 * layers; ++part) REQUIRE(look.next());
  CHECK(look.found()->found.left_out.back().head == 0);
  CHECK(look.worth_showing());
  while (look.next()) {
  }
  CHECK(look.done() == look.parts());
  CHECK(look.found()->whole);
  CHECK(look.found()->found.left_out.size() == 3 * layers + heads);
  CHECK(look.found()->found.loss == first->found.loss);
}

TEST_CASE("inside: a look at a run that moved on is given up") {
  const auto run = make_run(small_spec("pre"));
  InsideLook look(*run, nullptr, {.left_out = true});
  REQUIRE(look.next());
  CHECK(look.holds());
  steps(*run, 1);
  CHECK_FALSE(look.holds());
}

TEST_CASE("inside: the Lab shows the newest look, whole, and no bit of the run changes") {
  LabOf lab({small_spec("pre"), small_spec("post")});
  lab.post(session::PlayTo{6});
  rest(lab);
  const std::string text = "the dog", other = "a cat sees";
  for (const int32_t run : {0, 1}) lab.post(look_command({run, text, true}));
  lab.post(look_command({0, other, true}));
  lab.post(look_command({1, text, false, 2}));
  const auto view = rest(lab);
  REQUIRE(inside_of(view->runs[0]));
  CHECK(inside_of(view->runs[0])->text == other);
  CHECK(inside_of(view->runs[0])->whole);
  CHECK_FALSE(inside_of(view->runs[0])->found.left_out.empty());
  CHECK(view->runs[0].inquiry_parts == 0);
  CHECK(inside_of(view->runs[1])->step == 2);
  CHECK(inside_of(view->runs[1])->found.left_out.empty());
  lab.post(session::PlayTo{12});
  CHECK(losses(rest(lab)->runs[0]) == alone(small_spec("pre"), 12));
}

TEST_CASE(
    "inside: an earlier step is trained again as parts of the look, and what cannot be asked is refused at once") {
  // Of a size at which fifteen steps take longer than from one view to the next.
  using Size = std::vector<std::pair<std::string, std::string>>;
  const RunSpec spec = spec_with(
      "pre", kSanitized ? Size{{"model.d_model", "64"}, {"model.sequence", "32"}, {"train.batch", "16"}}
                        : Size{{"model.d_model", "128"}, {"model.sequence", "64"}, {"train.batch", "32"}});
  LabOf lab({spec});
  lab.post(session::PlayTo{37});
  rest(lab);
  int32_t most = 0;
  lab.on_change([&] { most = std::max(most, lab.view()->runs[0].inquiry_parts); });
  lab.post(
      look_command({.run = 0, .text = "the dog", .step = 35}));  // 15 steps after the keyframe of step 20
  const auto view = rest(lab);
  REQUIRE(inside_of(view->runs[0]));
  CHECK(inside_of(view->runs[0])->step == 35);
  CHECK(most > 15);
  CHECK(view->runs[0].inquiry_parts == 0);
  LabOf there({spec});
  there.post(session::PlayTo{35});
  rest(there);
  there.post(look_command({.run = 0, .text = "the dog"}));
  CHECK(inside_of(rest(there)->runs[0])->found.loss == inside_of(view->runs[0])->found.loss);
  const session::Ticket ticket = lab.post(look_command({.run = 0, .text = "x", .step = 10}));
  CHECK_FALSE(session::refusal(rest(lab)->answers, ticket).empty());
  CHECK(losses(lab.view()->runs[0]) == alone(spec, 37));
}

TEST_CASE("inside: a look is no work on the session: the view is not busy with it") {
  LabOf lab({small_spec("pre")});
  lab.wait_idle();
  bool busy = false;
  lab.on_change([&] { busy = busy || lab.view()->busy; });
  lab.post(look_command({0, "the dog", true}));
  CHECK(inside_of(rest(lab)->runs[0])->whole);
  CHECK_FALSE(busy);
}

}  // namespace normscope::test
