// These tests cover encoders and encoder-decoders: specification as fields and training as runs. test_padding.cpp has
// padding.
#include <algorithm>

#include "training/measure/look.h"
#include "training/run/evaluate.h"
#include "training/run/network.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

RunSpec both_spec(const std::string& data = "translation") {
  return spec_with("pre", {{"model.architecture", "encoder-decoder"}, {"data.name", data}});
}

RunSpec encoder_spec() { return spec_with("pre", {{"model.architecture", "encoder"}}); }

RunSpec rebuilt(const RunSpec& spec) {
  RunSpec copy;
  for (const auto& [key, value] : field_values(spec)) set_field(copy, key, value);
  return copy;
}

std::string validate_error(const RunSpec& spec) {
  return test::error_of([&] { validate(spec); }, "");
}

}  // namespace

TEST_CASE("architecture: a specification goes to text and back") {
  RunSpec spec = both_spec();
  CHECK(rebuilt(spec) == spec);
  CHECK(get_field(spec, "model.encoder_placement") == "same");
  set_field(spec, "model.encoder_layers", "3");
  set_field(spec, "model.encoder_placement", "post");
  CHECK(spec.model.encoder.layers.size() == 3);
  CHECK(spec.model.decoder.layers.size() == 2);
  CHECK(get_field(spec, "model.placement") == "pre");
  CHECK(get_field(spec, "model.encoder_placement") == "post");
  CHECK(spec.model.encoder.final == NormKind::None);
  CHECK(spec.model.decoder.final == NormKind::LayerNorm);
  CHECK(rebuilt(spec) == spec);
  CHECK(rebuilt(spec).model.encoder == spec.model.encoder);
  set_field(spec, "wiring.dec.L02.cross", "before=ln after=ln");
  set_field(spec, "wiring.enc.L03.ffn", "before=rms");
  CHECK(get_field(spec, "model.placement") == "custom");
  CHECK(rebuilt(spec) == spec);
  CHECK(rebuilt(spec).model.decoder == spec.model.decoder);
  CHECK(rebuilt(spec).model.encoder == spec.model.encoder);
  RunSpec from = both_spec();
  for (const Edit& edit : edits_between(from, spec, 1)) set_field(from, edit.key, edit.value);
  CHECK(from == spec);
  CHECK_THROWS_AS(set_field(spec, "wiring.L01.attn", "none"), Error);
  CHECK_THROWS_AS(set_field(spec, "wiring.enc.L01.cross", "none"), Error);
}

TEST_CASE("architecture: a stack keeps its wiring when the architecture changes") {
  RunSpec spec = spec_with("sandwich", {{"model.architecture", "encoder"}});
  CHECK(get_field(spec, "model.placement") == "sandwich");
  CHECK(spec.data.form == TaskForm::Masked);
  set_field(spec, "model.architecture", "encoder-decoder");
  CHECK(get_field(spec, "model.placement") == "sandwich");
  CHECK(get_field(spec, "model.encoder_placement") == "same");
  CHECK(spec.data.form == TaskForm::Translate);
  set_field(spec, "model.layers", "4");
  CHECK(spec.model.encoder.layers.size() == 4);
  set_field(spec, "model.norm", "rms");
  CHECK(get_field(spec, "model.encoder_placement") == "same");
  CHECK(spec.model.encoder.final == NormKind::Rms);
}

TEST_CASE("architecture: what does not fit together is refused with the way out") {
  CHECK(test::contains(validate_error(both_spec("corpus")), "an encoder-decoder cannot learn corpus"));
  RunSpec spec = encoder_spec();
  CHECK(validate_error(spec) == "");
  set_field(spec, "data.name", "copy");
  CHECK(test::contains(validate_error(spec), "expected data.name corpus, text, labels"));
  spec = small_spec();
  set_field(spec, "data.name", "translation");
  CHECK(test::contains(validate_error(spec), "a decoder cannot learn translation"));
  spec = both_spec();
  set_field(spec, "model.sequence", "18");
  CHECK(test::contains(validate_error(spec), "multiple of 4"));
}

TEST_CASE("architecture: encoder-decoders and encoders train, the same bits every time") {
  for (const char* data : {"translation", "copy", "reverse", "sort"}) {
    INFO(data);
    const RunSpec spec = both_spec(data);
    const auto backend = make_cpu_backend(1);
    const auto a = make_run(spec);
    Run b(spec, small_task(spec.data), *backend);
    steps(*a, 25);
    steps(b, 25);
    CHECK(same_bits(losses(*a), losses(b)));
    CHECK(first_difference(a->store(), b.store()) == "");
    CHECK(losses(*a)[24] < losses(*a)[0]);
    CHECK(std::isfinite(a->validation_loss()));
    CHECK(test::contains(a->sample(40), "\u2190"));
  }
  const auto a = make_run(encoder_spec(), 25), b = make_run(encoder_spec());
  b->validation_loss();
  b->sample(10);
  steps(*b, 25);
  CHECK(same_bits(losses(*a), losses(*b)));
  CHECK_FALSE(a->sample(10).empty());
}

TEST_CASE(
    "architecture: a validation loss is the mean over what is asked, of which batches have more or less") {
  const auto run = make_run(encoder_spec());
  const RunSpec& spec = run->spec();
  const int32_t B = spec.train.batch, T = spec.model.sequence;
  double sum = 0, asked = 0;
  std::set<double> counts;
  for (int32_t i = 1; i <= run->task().validation_batches(B, T); ++i) {
    const Batch batch = run->task().draw(spec.seed, static_cast<uint64_t>(i), Split::Validation, B, T);
    const auto count =
        static_cast<double>(std::ranges::count_if(batch.targets, [](int32_t t) { return t >= 0; }));
    Program program = evaluation_program(run->store(), spec.model, shape_of(batch));
    put(batch, program);
    program.replay({});
    sum += program.loss() * count;
    asked += count;
    counts.insert(count);
  }
  REQUIRE(counts.size() > 1);
  CHECK(run->validation_loss() == Approx(sum / asked).epsilon(1e-12));
}

TEST_CASE("architecture: a killed run goes on bitwise, and hybrids fork") {
  const RunSpec spec =
      with_fields(both_spec(), {{"model.encoder_placement", "post"}, {"model.dropout_residual", "0.1"}});
  const auto straight = make_run(spec, 16), stopped = make_run(spec, 9);
  const auto resumed = reloaded(*stopped);
  CHECK(resumed->spec() == spec);
  steps(*resumed, 7);
  CHECK(same_bits(losses(*straight), losses(*resumed)));
  CHECK(first_difference(straight->store(), resumed->store()) == "");
  RunSpec moved = with_fields(spec, {{"model.encoder_placement", "pre"}});
  const auto fork = straight->fork(moved);
  fork->step();
  CHECK(std::isfinite(fork->last_loss()));
  CHECK(fork->spec() == moved);
  CHECK(fork->skip_scales().size() == 10);
}

TEST_CASE("architecture: a run starts from the weights of another") {
  RunSpec spec = encoder_spec();
  const auto before = make_run(spec, 10);
  const std::string path = "pretrained.safetensors";
  before->save(path);
  set_field(spec, "train.init_from", path);
  const auto after = make_run(spec);
  for (const ParameterInfo& p : after->store().parameters()) {
    INFO(p.name);
    const int32_t i = after->store().find(p.name), j = before->store().find(p.name);
    CHECK(same_bits(after->store().read(i), before->store().read(j)));
    for (float m : after->store().read(i, Store::Block::M)) REQUIRE(m == 0.0f);
  }
  CHECK(after->history()->events().size() == 2);
  // Rows of another length have positions of their own; another width is another model.
  RunSpec longer = with_fields(spec, {{"model.sequence", "24"}}), wider = spec;
  set_field(wider, "model.d_model", "24");
  const auto stretched = make_run(longer);
  const auto weights = [](Run& run, const char* name) { return run.store().read(run.store().find(name)); };
  CHECK(same_bits(weights(*stretched, "L02.ffn.w1"), weights(*before, "L02.ffn.w1")));
  CHECK(weights(*stretched, "emb.positions").size() == 24 * 16);
  CHECK_THROWS_WITH(make_run(wider), Catch::Contains("another shape"));
  // A resumed run needs the file no more.
  after->step();
  after->save("finetuned.safetensors");
  std::remove(path.c_str());
  CHECK_NOTHROW(Run::load("finetuned.safetensors", small_task(spec.data), shared_backend()));
  std::remove("finetuned.safetensors");
  CHECK_THROWS_AS(make_run(spec), Error);
}

TEST_CASE("architecture: what is watched for values that are not finite is named, in order") {
  const auto run = make_run(small_spec("post"));
  std::vector<std::string> tensors;
  for (const FiniteCheck& check : finite_checks(run->program().data())) tensors.push_back(check.tensor);
  const auto place = [&](const std::string& tensor) {
    return std::ranges::find(tensors, tensor) - tensors.begin();
  };
  const auto count = static_cast<std::ptrdiff_t>(tensors.size());
  CHECK(place("L01.attn residual sum") < place("L01.attn output"));
  CHECK(place("L01.attn output") < place("L01.ffn residual sum"));
  CHECK(place("L02.ffn output") < place("loss"));
  CHECK(place("loss") < count);
}

}  // namespace normscope::test
