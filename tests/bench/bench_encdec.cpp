// A training step of the encoder-decoder that the sources train: 6-6, d=512, 4 heads, f=1024, 4096 tokens a
// batch, 10,000 pieces (Xiong et al. 2020, section 3). The memory plan is printed before anything is
// computed; peers/torch_encdec.py and peers/jax_encdec.py are the same model in PyTorch and JAX.
#include <fmt/format.h>

#include "bench/bench.h"
#include "core/philox.h"
#include "model/transformer.h"
#include "tape/seal.h"
#include "tape/store.h"

namespace normscope::bench {
namespace {

constexpr int32_t kBatch = 64, kSequence = 64, kVocabulary = 10000;

ModelConfig encdec_config() {
  ModelConfig c;
  c.architecture = Architecture::EncoderDecoder;
  c.layers = 6;
  c.width = 512;
  c.heads = 4;
  c.feed_forward = 1024;
  c.sequence = kSequence;
  c.vocabulary = kVocabulary;
  set_placement(c, Placement::Pre);
  return c;
}

double gib(size_t floats) { return static_cast<double>(floats) * 4 / (1 << 30); }

void print_plan(const Program& program, const Store& store) {
  const MemoryPlan& plan = program.data().plan;
  fmt::print(
      "plan: parameters and moments {:.2f} GiB, activations {:.2f}, gradients {:.2f}, workspace {:.2f}; "
      "{:.2f} in all\n",
      gib(3 * store.size()), gib(plan.activations), gib(plan.gradients), gib(plan.workspace),
      gib(3 * store.size() + plan.inputs + plan.activations + plan.gradients + plan.workspace));
}

void fill(Program& program) {
  for (const char* name : {"source", "tokens", "targets"}) {
    uint32_t i = 0;
    for (int32_t& t : program.tokens(name))
      t = static_cast<int32_t>(philox({i++, 1, 0, 0}, 3)[0] % kVocabulary);
  }
}

}  // namespace

bool bench_encdec(const Options& options) {
  const ModelConfig config = encdec_config();
  const auto backend = make_cpu_backend(options.threads);
  Store store(*backend);
  Tape tape(store);
  const ModelValues model = record_transformer(
      tape, config, {.batch = kBatch, .sequence = kSequence, .source_sequence = kSequence});
  store.materialize(1);
  Program program = seal(tape, {.loss = model.loss});
  fmt::print("\nEncoder-decoder 6-6, d=512, f=1024, 4096 tokens, 10000 pieces, all probes on\n");
  print_plan(program, store);
  fill(program);
  StepInputs inputs;
  inputs.lr = 1e-4f;
  inputs.bias_correction1 = 0.1f;
  inputs.bias_correction2 = 0.02f;
  const Timing t = time_call([&] { program.replay(inputs); }, 4 * options.budget);
  fmt::print("{:9.1f} ms a step (best {:.1f}), {:.0f} GFLOP/s, {:.0f} target tokens/s\n", 1e3 * t.median,
             1e3 * t.minimum, 1e-9 * step_flop(config, kBatch) / t.median, kBatch * kSequence / t.median);
  return program.loss() > 0;
}

}  // namespace normscope::bench
