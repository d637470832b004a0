#include "training/run/footprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "engine/cpu/arena.h"
#include "engine/cpu/kernel.h"
#include "engine/model/transformer.h"
#include "engine/ops/rules.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"
#include "training/io/text.h"
#include "training/measure/look.h"
#include "training/measure/token_metrics.h"

namespace normscope {
namespace {

/// Used as every address: kernels ask at planning whether there is one, and never read it.
class AnyAddress final : public Addresses {
 public:
  float* value(ValueId) const override { return floats_; }
  float* gradient(ValueId) const override { return floats_; }

 private:
  alignas(64) inline static float floats_[16];
};

cpu::Stages stages_of(const ProgramData& program, const Instruction& i) {
  Call call = bind(program, i, AnyAddress(), nullptr);
  const cpu::Kernels kernels = cpu::kernels_of(i.op);
  const auto plan = i.phase == Phase::Backward ? kernels.backward : kernels.forward;
  return plan ? plan(call) : cpu::Stages{};
}

/// Lists the instructions before the update in order, without probes; the update reads only parameters' gradients.
std::vector<Instruction> instructions_of(const Tape& tape, const std::vector<bool>& needs_gradient,
                                         ValueId loss) {
  std::vector<Instruction> all = passes::emit_forward(tape);
  for (Instruction& i : passes::emit_backward(tape, needs_gradient, loss)) all.push_back(std::move(i));
  return all;
}

/// The workspace floats of forward and backward; the update works in place with a few numbers for each
/// parameter, unless its op says more (OpRules::matrix_room).
size_t workspace_floats(const Tape& tape, const std::vector<Instruction>& instructions) {
  ProgramData program;
  program.values = tape.values();
  std::vector<cpu::Stages> stages;
  for (const Instruction& i : instructions) stages.push_back(stages_of(program, i));
  return cpu::plan_workspace(instructions, stages).floats;
}

void collect_tensors(const Tape& tape, const std::vector<bool>& needs_gradient,
                     std::vector<TensorBytes>& out) {
  for (size_t v = 0; v < tape.values().size(); ++v) {
    const ValueInfo& info = tape.values()[v];
    const size_t bytes = 4 * static_cast<size_t>(info.shape.size());
    if (info.role == Role::Parameter)
      out.push_back({info.name, "parameter and two moments", 3 * bytes});
    else
      out.push_back({info.name, info.role == Role::Input ? "batch" : "activation", bytes});
    if (needs_gradient[v]) out.push_back({info.name, "gradient", bytes});
  }
}

/// Floats of an evaluation's program. Over a memory it keeps its values, see evaluation_program.
size_t evaluation_floats(Store& store, const ModelConfig& model, const BatchShape& shape, bool validates) {
  Tape tape(store);
  const int32_t memory = validates ? model.memory : 0;
  const bool reuse = validates && memory == 0;
  record_model(tape, model, record_options(shape, false, memory));
  const std::vector<bool> none = passes::mark_gradients(tape, kNone);
  MemoryPlan plan = passes::plan_memory(tape, none, !validates);
  const std::vector<Instruction> forward = passes::emit_forward(tape);
  if (reuse) passes::share_value_memory(tape, forward, plan);
  return plan.inputs + plan.activations + workspace_floats(tape, forward);
}

/// For the program that measures the critical rate, beside what it shares with the run's own.
size_t critical_floats(const RunSpec& spec, const BatchShape& shape, Backend& backend) {
  Store store(backend);
  Tape tape(store);
  RecordOptions options = record_options(shape, true, spec.model.memory);
  options.probes = false;
  record_model(tape, spec.model, options);
  const std::vector<bool> none = passes::mark_gradients(tape, kNone);
  const MemoryPlan plan = passes::plan_memory(tape, none, false);
  if (spec.train.reuse_gradients && backend.in_order()) return plan.inputs;
  return plan.inputs + plan.activations + workspace_floats(tape, passes::emit_forward(tape));
}

}  // namespace

Footprint footprint_of(const ModelConfig& config, const BatchShape& shape, Backend& backend,
                       bool reuse_gradients) {
  Store store(backend);  // only declares: it never materializes
  Tape tape(store);
  const ModelValues model = record_model(tape, config, record_options(shape, true, config.memory));
  const std::vector<bool> needs_gradient = passes::mark_gradients(tape, model.loss);
  const MemoryPlan plan = passes::plan_memory(tape, needs_gradient);
  MemoryPlan reused = plan;
  const std::vector<Instruction> instructions = instructions_of(tape, needs_gradient, model.loss);
  passes::share_gradient_memory(tape, passes::place_probes(tape, instructions), reused, heard_values(tape));

  Footprint need;
  need.parameters = 4 * store.size();
  need.optimizer = 8 * store.size();
  need.activations = 4 * plan.activations;
  need.reused_gradients = 4 * reused.gradients;
  need.gradients = reuse_gradients ? need.reused_gradients : 4 * plan.gradients;
  need.workspace = 4 * (plan.inputs + workspace_floats(tape, instructions));
  for (const ParameterInfo& p : store.parameters()) {
    need.parameter_count += static_cast<size_t>(p.shape.size());
    if (p.hidden) need.matrices += 4 * p.shape.padded();
  }
  collect_tensors(tape, needs_gradient, need.largest);
  std::ranges::stable_sort(need.largest, std::greater<>(), &TensorBytes::bytes);
  need.largest.resize(std::min<size_t>(need.largest.size(), 10));
  BatchShape row = shape;
  row.rows = 1;      // for measuring beta^2: its values stay readable
  need.evaluation =  // and the weights before a step
      4 * (evaluation_floats(store, config, shape, true) + evaluation_floats(store, config, row, false) +
           store.size());
  return need;
}

Footprint footprint_of(const RunSpec& spec, const Task& task, Backend& backend) {
  const BatchShape shape = task.shape(spec.seed, 1, Split::Train, spec.train.batch, spec.model.sequence);
  Footprint need = footprint_of(spec.model, shape, backend, spec.train.reuse_gradients);
  const double rooms = rules_of(update_op(spec.train.optimizer)).matrix_room;
  need.workspace = std::max(need.workspace, static_cast<size_t>(rooms * static_cast<double>(need.matrices)));
  if (spec.train.critical_every > 0)  // a Store and as many numbers beside it, on the host
    need.evaluation += 2 * (need.parameters + need.optimizer) + 4 * critical_floats(spec, shape, backend);
  return need;
}

size_t played_bytes(const RunSpec& spec, const Task& task, Backend& backend) {
  const BatchShape shape = task.shape(spec.seed, 1, Split::Train, spec.train.batch, spec.model.sequence);
  const Footprint need = footprint_of(spec.model, shape, backend, false);
  return 3 * (need.parameters + need.optimizer) + 2 * (need.activations + need.gradients + need.workspace);
}

std::string footprint_table(const Footprint& need) {
  std::string text;
  const auto line = [&](const char* what, size_t bytes, const std::string& note) {
    text += fmt::format("{:12} {:>11}  {}\n", what, size_words(bytes), note);
  };
  line("parameters", need.parameters, fmt::format("{} numbers", need.parameter_count));
  line("optimizer", need.optimizer, "first and second moments");
  line("activations", need.activations, "outputs and what backward reads of them");
  line("gradients", need.gradients,
       need.gradients > need.reused_gradients
           ? fmt::format("all stay readable; train.reuse_gradients = true: {}",
                         size_words(need.reused_gradients))
           : "those of activations share memory");
  line("workspace", need.workspace, "batch, packed panels, partial sums");
  line("evaluation", need.evaluation, "the programs that validate and measure, forward only");
  line("peak", need.peak(), "");
  return text;
}

std::string largest_table(const Footprint& need) {
  std::string text = "largest tensors\n";
  for (const TensorBytes& t : need.largest)
    text += fmt::format("{:28} {:26} {:>11}\n", t.name, t.what, size_words(t.bytes));
  return text;
}

}  // namespace normscope
