// These tests cover Transformer-XL: relative positions, the memory of earlier segments and the text that goes on. What
// is remembered is what a longer row would have computed, no gradient goes there, runs resume with it to the bit, and
// without it nothing of all this is on the tape.
#include "addons/systems/engine/relative_attention.h"
#include "engine/io/safetensors.h"
#include "engine/support/allocation_count.h"
#include "engine/support/named_placements.h"
#include "training/measure/history.h"
#include "training/run/network.h"
#include "training/run/run_record.h"
#include "training/support/small_runs.h"

namespace normscope::test::recurrence {
namespace {

constexpr int32_t kVocabulary = 13;

ModelConfig config(Placement placement, int32_t sequence, int32_t memory) {
  ModelConfig c =
      tiny_config({.placement = placement, .layers = 3, .feed_forward = 32, .vocabulary = kVocabulary});
  c.sequence = sequence;
  c.memory = memory;
  c.positions = Positions::Relative;
  return c;
}

/// Moves biases, gains and scales away from 0 and 1, lest one be forgotten on the way of the memory.
void perturb(Store& store) {
  for (const ParameterInfo& info : store.parameters()) {
    if (info.init.kind == Init::Kind::Normal || !info.trainable) continue;
    change(store, info.name, [&](std::vector<float>& values) {
      for (size_t i = 0; i < values.size(); ++i) {
        const uint32_t word = philox({static_cast<uint32_t>(i), site_of(info.name), 0, 0}, 17)[0];
        values[i] += 0.4f * (static_cast<float>(word) / 4294967296.0f - 0.4f);
      }
    });
  }
}

int32_t token_at(int32_t row, int32_t position) {
  const std::array<uint32_t, 4> words =
      philox({static_cast<uint32_t>(row), static_cast<uint32_t>(position), 0, 0}, 23);
  return static_cast<int32_t>(words[0] % kVocabulary);
}

/// Lets row b of the batch read positions [from, from + T) of its text.
void fill(Program& program, int32_t rows, int32_t T, int32_t from) {
  for (int32_t b = 0; b < rows; ++b)
    for (int32_t t = 0; t < T; ++t) {
      const auto at = static_cast<size_t>(b * T + t);
      program.tokens("tokens")[at] = token_at(b, from + t);
      program.tokens("targets")[at] = token_at(b, from + t + 1);
    }
}

struct ModelProgram {
  ModelValues values;
  Program program;
};

ModelProgram record(Store& store, const ModelConfig& c, int32_t rows, int32_t T, int32_t memory,
                    bool backward = false) {
  Tape tape(store);
  ModelValues values = record_transformer(
      tape, c, {.batch = rows, .sequence = T, .memory = memory, .training = false, .probes = false});
  if (!store.materialized()) {
    store.materialize(5);
    perturb(store);
  }
  Program program = seal(tape, {.loss = values.loss, .backward = backward, .update = kNoOp});
  return {std::move(values), std::move(program)};
}

RunSpec remembering(int32_t memory = 24) {
  return spec_with("pre", {{"model.memory", std::to_string(memory)},
                           {"model.dropout_residual", "0.1"},
                           {"model.dropout_attention", "0.1"}});
}

TEST_CASE("memory: segments with all they have read behind them give the logits of one long row") {
  constexpr int32_t kRows = 2, kSegment = 7, kSegments = 3;
  for (const Placement placement : test::known({"post", "pre", "sandwich", "deepnorm", "lns", "hybridnorm",
                                                "normformer", "subln", "fixup", "b2t", "resi-dual"})) {
    INFO(to_string(placement));
    const ModelConfig c = config(placement, kSegment * kSegments, kSegment * (kSegments - 1));
    Store store(shared_backend());
    ModelProgram whole = record(store, c, kRows, kSegment * kSegments, 0);
    fill(whole.program, kRows, kSegment * kSegments, 0);
    whole.program.replay({});
    const std::vector<float> expected = whole.program.read("logits");

    ModelProgram part = record(store, c, kRows, kSegment, c.memory);
    REQUIRE(part.values.memories.size() == 3);
    SegmentMemory memory;
    for (int32_t s = 0; s < kSegments; ++s) {
      INFO("segment " << s);
      fill(part.program, kRows, kSegment, s * kSegment);
      memory.fill(part.program, part.values.memories, s > 0);
      part.program.replay({});
      memory.take(part.program, part.values.memories);
      const std::vector<float> logits = part.program.read("logits");
      for (int32_t b = 0; b < kRows; ++b) {
        const auto size = static_cast<size_t>(kSegment * kVocabulary),
                   first = static_cast<size_t>((b * kSegments + s) * kSegment * kVocabulary);
        CHECK(relative_difference(std::span(logits).subspan(static_cast<size_t>(b) * size, size),
                                  std::span(expected).subspan(first, size)) < 2e-5);
      }
      CHECK(memory.state().lengths == std::vector<int32_t>(kRows, std::min(c.memory, (s + 1) * kSegment)));
    }
    // Without it the last segment knows less: the comparison above is not vacuous.
    fill(part.program, kRows, kSegment, (kSegments - 1) * kSegment);
    memory.fill(part.program, part.values.memories, false);
    part.program.replay({});
    const std::vector<float> alone = part.program.read("logits");
    const auto size = static_cast<size_t>(kSegment * kVocabulary);
    CHECK(relative_difference(std::span(alone).first(size),
                              std::span(expected).subspan((kSegments - 1) * size, size)) > 1e-3);
  }
}

TEST_CASE("memory: it has no gradient, and the others are the derivatives of the loss with it held") {
  const ModelConfig c = config(Placement::Pre, 6, 5);
  Store store(shared_backend());
  ModelProgram r = record(store, c, 2, 6, 5, true);
  SegmentMemory memory;
  fill(r.program, 2, 6, 0);
  memory.fill(r.program, r.values.memories, false);
  r.program.replay({});
  memory.take(r.program, r.values.memories);
  for (const LayerMemory& layer : r.values.memories)
    CHECK(r.program.data().plan.gradient_offset[static_cast<size_t>(layer.input)] == kNoOffset);
  fill(r.program, 2, 6, 6);
  memory.fill(r.program, r.values.memories, true);
  r.program.replay({});
  for (const char* name : {"L01.attn.wk", "L02.attn.wv", "L01.attn.wr", "L02.attn.content_bias",
                           "L02.attn.position_bias", "L03.attn.wq", "L02.attn.before.gain"}) {
    INFO(name);
    const std::vector<float> gradient = r.program.read(name, true);
    const int32_t index = store.find(name);
    const std::vector<float> before = store.read(index);
    double square = 0;
    for (float g : gradient) square += static_cast<double>(g) * static_cast<double>(g);
    const double norm = std::sqrt(square);
    // The loss is a float near 3: 3e-7 of rounding over 2 h. The error of the difference itself falls with h squared.
    const double h = 0.0025;
    REQUIRE(norm > 1e-6);
    const auto loss_at = [&](double step) {
      std::vector<float> moved = before;
      for (size_t i = 0; i < moved.size(); ++i)
        moved[i] += static_cast<float>(step * static_cast<double>(gradient[i]) / norm);
      store.write(index, moved);
      r.program.replay({});
      return r.program.loss();
    };
    const double slope = (loss_at(h) - loss_at(-h)) / (2 * h);
    store.write(index, before);
    CHECK(slope == Approx(norm).epsilon(1e-3).margin(6e-5));
    r.program.replay({});
  }
}

TEST_CASE("memory: the newest positions stay, whether it is longer than a segment or shorter") {
  for (const int32_t M : {5, 2}) {
    INFO("memory of " << M);
    const ModelConfig c = config(Placement::Post, 3, M);
    Store store(shared_backend());
    ModelProgram r = record(store, c, 2, 3, M);
    SegmentMemory memory;
    std::vector<float> read;  // embeddings of row 1, position by position
    for (int32_t s = 0; s < 3; ++s) {
      fill(r.program, 2, 3, 3 * s);
      memory.fill(r.program, r.values.memories, s > 0);
      r.program.replay({});
      memory.take(r.program, r.values.memories);
      const std::vector<float> x = r.program.read("emb");
      read.insert(read.end(), x.begin() + 3 * c.d_model, x.end());
      const int32_t length = std::min(M, 3 * (s + 1));
      CHECK(memory.state().lengths == std::vector<int32_t>(2, length));
      // Row 1 of the first layer.
      const auto kept = static_cast<size_t>(length * c.d_model);
      const auto end = memory.state().states.begin() + 2 * M * c.d_model;
      const std::vector<float> newest(end - static_cast<std::ptrdiff_t>(kept), end);
      CHECK(
          same_bits(newest, std::vector<float>(read.end() - static_cast<std::ptrdiff_t>(kept), read.end())));
    }
  }
}

TEST_CASE("memory: without one, and without relative positions, nothing of it is recorded") {
  const auto run = make_run(small_spec("pre"), 2);
  for (const Node& node : run->program().data().nodes)
    CHECK((node.op != OpKind::RelativeAttention && node.op != OpKind::Concat));
  for (const ParameterInfo& info : run->store().parameters())
    CHECK((info.name != "distances" && !contains(info.name, ".wr") && !contains(info.name, "_bias")));
  const Folder folder;
  const std::string file = folder.file("run.safetensors");
  run->save(file);
  CHECK_FALSE(SafetensorsFile::load(file).contains("memory/lengths"));
}

TEST_CASE("consecutive text: every row goes on where it ended, until the pass is over") {
  DataSpec data = small_spec().data;
  data.consecutive = true;
  const auto task = small_task(data);
  constexpr int32_t kRows = 3, kT = 16;
  for (const Split split : {Split::Train, Split::Validation}) {
    CHECK_FALSE(task->goes_on(1, split, kRows, kT));
    Batch before(kRows, kT), now(kRows, kT);
    task->batch(4, 1, split, kRows, kT, before.tokens, before.targets);
    for (uint64_t step = 2; step < 40; ++step) {
      REQUIRE(task->goes_on(step, split, kRows, kT));
      task->batch(4, step, split, kRows, kT, now.tokens, now.targets);
      for (size_t row = 0; row < kRows; ++row)
        CHECK(now.tokens[row * kT] == before.targets[row * kT + kT - 1]);
      std::swap(before, now);
    }
  }
  // A pass ends at one step for all rows, and the next begins elsewhere.
  uint64_t second = 2;
  while (task->goes_on(second, Split::Validation, kRows, kT)) ++second;
  Batch first(kRows, kT), again(kRows, kT), other(kRows, kT);
  task->batch(4, 1, Split::Validation, kRows, kT, first.tokens, first.targets);
  task->batch(4, second, Split::Validation, kRows, kT, again.tokens, again.targets);
  task->batch(5, 1, Split::Validation, kRows, kT, other.tokens, other.targets);
  CHECK(first.tokens != again.tokens);
  CHECK(first.tokens != other.tokens);
  CHECK_THAT(error_of([&] { task->goes_on(1, Split::Validation, 1'000'000, kT); }),
             Catch::Contains("consecutive rows"));
}

TEST_CASE("memory: a resumed run goes on bit for bit") {
  for (const int32_t memory : {24, 16, 5}) {
    INFO("memory of " << memory);
    const RunSpec spec = remembering(memory);
    const auto straight = make_run(spec, 18), first = make_run(spec, 7);
    first->validation_loss();  // looking changes nothing
    first->sample(5);
    first->measure_batch();
    const auto resumed = reloaded(*first), again = reloaded(*first);
    steps(*resumed, 11);
    CHECK(first_difference(straight->store(), resumed->store()) == "");
    CHECK(same_bits(straight->history()->loss().values, resumed->history()->loss().values));
    // A fork without a change remembers what its source does; one with another network begins empty and goes on.
    const auto same = again->fork(again->spec());
    same->step();
    first->step();
    CHECK(same->last_loss() == first->last_loss());
    CHECK_NOTHROW(again->fork(with_fields(again->spec(), {{"model.norm", "rms"}}))->step());
  }
}

TEST_CASE("memory: an earlier step is reached again with what was remembered there") {
  const RunSpec spec = remembering();
  const auto run = make_run(spec, 25);
  const auto forked =
      run->fork(with_fields(run->spec(), {{"model.placement", "post"}}));  // empties the memory
  steps(*forked, 20);
  for (const int32_t step : {20, 23, 25, 26, 40, 45}) {
    INFO("step " << step);
    const auto original = trained_straight(spec, *forked, step);
    const auto again = forked->at(step);
    steps(*again, step - again->steps_done() + 3);
    steps(*original, 3);
    CHECK(first_difference(original->store(), again->store()) == "");
  }
}

TEST_CASE("memory: at evaluation it may be longer than in training") {
  const RunSpec spec = remembering(16);
  const auto task = small_task(spec.data);
  const auto run = make_run(spec, 30);
  const auto loss = [&](int32_t memory) { return text_loss(run->store(), run->spec(), *task, memory, 8); };
  const TextLoss same = loss(16), none = loss(0), longer = loss(48);
  CHECK(same.loss == run->validation_loss());  // the same batches by the same ops
  CHECK(same.batches == 8);
  CHECK(same.targets == 8 * 4 * 16);
  CHECK(same.bits() == Approx(same.loss / std::log(2.0)));
  CHECK(std::isfinite(longer.loss));
  CHECK(longer.loss != same.loss);
  CHECK(none.loss != same.loss);
  int32_t asked = 0;
  CHECK(text_loss(run->store(), run->spec(), *task, 16, 8, [&](int32_t) { return ++asked < 3; }).batches ==
        2);
}

TEST_CASE("relative positions: a window is refused") {
  ModelConfig windowed = config(Placement::Pre, 8, 0);
  windowed.attention.window = 4;
  CHECK(error_of([&] { validate(windowed); }).starts_with("[model.positions] "));
}

TEST_CASE("memory: what cannot be is refused in one line") {
  const auto error = [](const std::vector<std::pair<std::string, std::string>>& fields) {
    return error_of([&] { validate(spec_with("pre", fields)); });
  };
  CHECK(error({{"model.memory", "8"}}) == "no error");
  CHECK(error({{"model.positions", "relative"}}) == "no error");
  CHECK(error({{"data.consecutive", "true"}}) == "no error");
  CHECK_THAT(error({{"model.memory", "8"}, {"model.positions", "learned"}}),
             Catch::Contains("expected positions relative"));
  CHECK_THAT(error({{"model.memory", "8"}, {"data.consecutive", "false"}}),
             Catch::Contains("expected data.consecutive = true"));
  CHECK_THAT(error({{"model.architecture", "encoder"}, {"model.positions", "relative"}}),
             Catch::Contains("expected architecture decoder"));
  CHECK_THAT(error({{"data.name", "copy"}, {"data.consecutive", "true"}}),
             Catch::Contains("only a text that a decoder reads goes on"));

  ModelConfig c = config(Placement::Pre, 8, 4);
  CHECK(error_of([&] { require_memory_of("x", {}, c, 2); }) == "no error");
  const MemoryState right{{4, 0}, std::vector<float>(static_cast<size_t>(2 * 4 * 24 * 3))};
  CHECK(error_of([&] { require_memory_of("x", right, c, 2); }) == "no error");
  CHECK_THAT(error_of([&] { require_memory_of("x", right, c, 3); }), Catch::Contains("expected 3 and"));
  MemoryState beyond = right;
  beyond.lengths[1] = 5;
  CHECK_THAT(error_of([&] { require_memory_of("x", beyond, c, 2); }),
             Catch::Contains("a row of 5 positions: expected 0 to 4"));
  Store store(shared_backend());
  CHECK_THAT(error_of([&] { record(store, c, 1, 8, 5); }), Catch::Contains("a memory of 5 is asked"));
}

// These tests have consecutive text and its memory where something does not fit: said when the run is made, with the
// split's name; measured in fewer rows where the text is short; and no step of a batch asks for memory.

/// 1,200 symbols: 1,080 to learn and 120 to validate.
std::shared_ptr<const Task> short_text() {
  std::string text;
  for (int i = 0; i < 1200; ++i) text += static_cast<char>('a' + (i * 7 + i / 13) % 11);
  return make_text_task(TextSource(text, "whose name is longer than a short string"), 16, true);
}

/// Segments of 16: a row needs 33 symbols, so 3 rows fit the validation text and 4 do not.
RunSpec consecutive_spec(int32_t batch) {
  return spec_with("pre", {{"model.memory", "8"}, {"train.batch", std::to_string(batch)}});
}

}  // namespace

TEST_CASE("consecutive text: a split that is too short is named when the run is made, or will be changed") {
  const auto task = short_text();
  const auto made = [&](int32_t batch) {
    return error_of([&] { Run(consecutive_spec(batch), task, shared_backend()); });
  };
  CHECK_THAT(made(4),
             Catch::Contains("120 symbols to validate are 30 for each of 4 consecutive rows: expected "
                             "at least 33, two segments of 16 and one more"));
  CHECK_THAT(made(40), Catch::Contains("1080 symbols to learn are 27 for each of 40"));
  Run run(consecutive_spec(3), task, shared_backend());
  for (const auto& [key, value] : {std::pair{"train.batch", "4"}, {"model.sequence", "24"}}) {
    INFO(key);
    CHECK_THAT(error_of([&] { run.schedule_edits({{2, key, value}}); }), Catch::Contains("to validate are"));
    CHECK(run.scheduled().empty());
    CHECK_THAT(error_of([&] {
                 run.fork(with_fields(run.spec(), {{key, value}}));
               }),
               Catch::Contains("to validate are"));
  }
  run.schedule_edits({{2, "train.batch", "2"}});
  steps(run, 3);
  CHECK(std::isfinite(run.validation_loss()));
}

TEST_CASE(
    "consecutive text: a short validation text is measured in fewer rows, with one segment without memory") {
  const auto task = short_text();
  Run run(consecutive_spec(3), task, shared_backend());
  CHECK(task->consecutive_rows(Split::Validation, 16) == 3);
  CHECK(short_text()->consecutive_rows(Split::Train, 16) == 32);
  RunSpec wide = run.spec();
  wide.train.batch = 4;
  const TextLoss loss = text_loss(run.store(), wide, *task, 0, 100);
  CHECK(loss.batches == 1);
  CHECK(loss.targets == 3 * 16);
  CHECK(std::isfinite(loss.loss));
  CHECK_THAT(error_of([&] { text_loss(run.store(), wide, *task, 8, 100); }),
             Catch::Contains("one segment of 16 for each of 3 rows: expected a longer text, or --memory 0"));
  CHECK_THAT(error_of([&] { text_loss(run.store(), wide, *small_task(), 0, 1); }),
             Catch::Contains("expected consecutive text"));
  wide.train.batch = 2;  // 60 symbols each: two segments
  CHECK(text_loss(run.store(), wide, *task, 8, 100).batches == 2);
}

TEST_CASE("consecutive text: a batch allocates nothing") {
  const auto task = short_text();
  Batch batch(3, 16);
  bool any = false;
  const uint64_t before = allocations();
  for (uint64_t step = 1; step < 50; ++step) {
    task->batch(4, step, Split::Train, 3, 16, batch.tokens, batch.targets);
    any = any || task->goes_on(step, Split::Train, 3, 16);
  }
  const uint64_t asked = allocations() - before;
  CHECK(asked == 0);
  CHECK(any);
}

TEST_CASE("relative attention: no value serves for two of queries, keys and values") {
  Store store(shared_backend());
  Tape tape(store);
  const auto input = [&](const char* name) { return tape.input(name, {1, 2, 4}, DType::F32); };
  const ValueId c = input("c"), e = input("e"), k = input("k"), v = input("v"),
                r = tape.input("r", {2, 4}, DType::F32);
  const auto error = [&](const std::string& name, RelativeAttentionInputs in) {
    return error_of([&] { relative_attention(tape, name, in, {.heads = 2}); });
  };
  CHECK(error("a", {.content = c, .position = e, .keys = k, .values = v, .distances = r}) == "no error");
  CHECK_THAT(error("b", {.content = c, .position = e, .keys = k, .values = k, .distances = r}),
             Catch::Contains("k serves as keys and as values: expected two values"));
  CHECK_THAT(error("d", {.content = c, .position = e, .keys = c, .values = v, .distances = r}),
             Catch::Contains("c serves as queries and as keys"));
}

}  // namespace normscope::test::recurrence
