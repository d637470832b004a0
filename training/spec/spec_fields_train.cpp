// The field table, second part: how a run is trained (mostly live fields, which act on the next step) and on what.
#include "training/data/task_kind.h"
#include "training/spec/limits.h"
#include "training/spec/spec_fields.h"
#include "training/spec/update_rule.h"

namespace normscope {
namespace {

Field milestones_field() {
  Field field =
      field_of(FieldType::Text, {"train.milestones", "milestones", "steps",
                                 "Steps at which the step schedule cuts the rate, such as 100,200.", true});
  field.get = [](const RunSpec& spec) { return steps_text(spec.train.schedule.milestones); };
  field.set = [](RunSpec& spec, std::string_view text) { parse_steps(text, spec.train.schedule.milestones); };
  return field;
}

void add_schedule_fields(std::vector<Field>& fields) {
  fields.push_back(real<[](RunSpec& s) -> float& { return s.train.schedule.peak; }>(
      {"train.lr", "learning rate", "", "Size of each update; with warm-up, the rate at its end.", true}, 0,
      100));
  fields.push_back(integer<[](RunSpec& s) -> int32_t& { return s.train.schedule.warmup; }>(
      {"train.warmup", "warm-up", "steps",
       "Over so many steps the learning rate grows evenly from zero to its peak. 0 starts at full rate.",
       true},
      0, 100000));
  fields.push_back(choice<[](RunSpec& s) -> Schedule::Kind& { return s.train.schedule.kind; },
                          [](Schedule::Kind kind) { return to_string(kind); },
                          [](std::string_view name) { return schedule_from(name); }>(
      {"train.schedule", "schedule", "", "What the learning rate does after warm-up.", true},
      names_of(kSchedules)));
  fields.push_back(integer<[](RunSpec& s) -> int32_t& { return s.train.schedule.reference; }>(
      {"train.reference", "decay from", "step",
       "The inverse square root schedule starts to decay here, or at the end of warm-up if that is later.",
       true},
      1, kMostSteps));
  fields.push_back(integer<[](RunSpec& s) -> int32_t& { return s.train.schedule.end; }>(
      {"train.decay_end", "decay to zero at", "step",
       "The linear and the cosine schedule reach zero at this step.", true},
      1, kMostSteps));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.train.schedule.factor; }>(
      {"train.decay_factor", "decay factor", "",
       "The step schedule multiplies the rate by it at each milestone.", true},
      0, 1));
  fields.push_back(milestones_field());
}

void add_optimizer_fields(std::vector<Field>& fields) {
  fields.push_back(choice<[](RunSpec& s) -> Optimizer& { return s.train.optimizer; },
                          [](Optimizer optimizer) { return to_string(optimizer); },
                          [](std::string_view name) { return optimizer_from(name); }>(
      {"train.optimizer", "optimizer", "",
       "sgd follows the gradient as it is, momentum its running sum. adam rescales each weight's update "
       "by the size of its recent gradients; adamw takes weight decay off the weights instead of adding "
       "it to the gradient. radam holds Adam back while its averages are young, by the paper's rule or "
       "that of its authors' code. muon makes the momentum of each matrix of the layers orthogonal, so that "
       "no direction is left behind, and treats everything else as adamw does."},
      names_of(kOptimizers)));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.train.beta1; }>(
      {"train.beta1", "beta 1", "", "Adam: how much of the running mean of the gradient is kept each step.",
       true},
      0, 0.999999));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.train.beta2; }>(
      {"train.beta2", "beta 2", "",
       "Adam: how much of the running mean of the squared gradient is kept each step.", true},
      0, 0.999999));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.train.eps; }>(
      {"train.eps", "Adam epsilon", "",
       "Adam: added to the divisor; tiny gradients below it make no large updates.", true},
      0, 1));
  fields.push_back(flag<[](RunSpec& s) -> bool& { return s.train.bias_correction; }>(
      {"train.bias_correction", "bias correction", "",
       "Adam and AdamW: the running means, which start at zero, are divided by what they have seen so far. "
       "Without it the first steps are too large when beta 2 is near 1.",
       true}));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.train.momentum; }>(
      {"train.momentum", "momentum", "", "Momentum: how much of the last update is carried into the next.",
       true},
      0, 0.999999));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.train.weight_decay; }>(
      {"train.weight_decay", "weight decay", "",
       "Share of every weight, times the rate, that is taken away each step; adam adds that share to the "
       "gradient instead.",
       true},
      0, 100));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.train.clip; }>(
      {"train.clip", "gradient clip", "", "A gradient longer than this is shortened to it. 0 is off.", true},
      0, 1e9));
  fields.push_back(real<[](RunSpec& s) -> float& {
    return s.train.qk_clip;
  }>({"train.qk_clip", "QK-clip", "",
      "After each step the queries and keys of a head whose largest logit of the batch was above this are scaled "
      "down to it. 0 is off."},
     0, 1e9));
  fields.push_back(real<[](RunSpec& s) -> float& { return s.train.label_smoothing; }>(
      {"train.label_smoothing", "label smoothing", "",
       "Share of the target's probability that is spread evenly over all symbols.", true},
      0, 0.99));
}

constexpr char kText[] = "text", kLabels[] = "labels";

Field data_name_field() {
  Field field = field_of(
      FieldType::Choice,
      {"data.name", "data", "",
       "What is learned: built-in sentences, a text file, to copy, reverse or sort a row of symbols, a small made-up "
       "translation, or labels; whether two words of a made-up sentence are swapped, or its mood, in five classes."});
  for (const TaskKind* kind : task_kinds()) field.choices.push_back(kind->name);
  field.get = [](const RunSpec& spec) { return spec.data.name; };
  field.set = [](RunSpec& spec, std::string_view name) {
    spec.data.name = trimmed(name);
    complete(spec);
  };
  return field;
}

}  // namespace

void add_train_fields(std::vector<Field>& fields) {
  fields.push_back(integer<[](RunSpec& s) -> int32_t& { return s.train.batch; }>(
      {"train.batch", "batch", "sequences", "How many sequences each step learns from."}, 1, 4096));
  fields.push_back(integer<[](RunSpec& s) -> int32_t& { return s.train.steps; }>(
      {"train.steps", "steps", "", "After so many updates training rests.", true}, 1, kMostSteps));
  fields.push_back(file<[](RunSpec& s) -> std::string& {
    return s.train.init_from;
  }>({"train.init_from", "start from", "",
      "A saved run of the same sizes, whose weights this one starts with, by name: fine-tuning. Empty starts afresh."}));
  fields.push_back(flag<[](RunSpec& s) -> bool& { return s.train.reuse_gradients; }>(
      {"train.reuse_gradients", "reuse gradients", "",
       "Gradients of activations give their memory to later ones, and cannot be looked at after the step. "
       "The same numbers in less memory. Only on the CPU: a GPU computes gradients side by side."}));
  add_schedule_fields(fields);
  add_optimizer_fields(fields);
  fields.push_back(integer<[](RunSpec& s) -> int32_t& { return s.train.critical_every; }>(
      {"train.critical_every", "critical rate", "steps apart",
       "Measures the learning rate at which the step would no longer lower the loss of its own batch. Six "
       "forward passes on a copy each time, about two steps; every 10 steps, a fifth more time. 0 is off. No "
       "other number of the run changes.",
       true},
      0, 100000));
}

void add_data_fields(std::vector<Field>& fields) {
  fields.push_back(source<[](RunSpec& s) -> std::string& { return s.data.text_path; }, kText, true>(
      {"data.text", "text file", "",
       "A UTF-8 text file to learn from; leave empty for the built-in sentences."}));
  fields.push_back(source<[](RunSpec& s) -> std::string& { return s.data.labels_path; }, kLabels>(
      {"data.labels", "labelled texts", "",
       "A UTF-8 file of texts to classify, one label and text a line with a tab between, for an encoder."}));
  fields.push_back(file<[](RunSpec& s) -> std::string& { return s.data.valid_path; }>(
      {"data.valid", "validation file", "",
       "Pairs, labelled texts or trees to validate on; empty takes the end of the training file."}));
  fields.push_back(file<[](RunSpec& s) -> std::string& { return s.data.tokenizer_path; }>(
      {"data.tokenizer", "tokenizer", "",
       "What cuts the data into tokens, where they are not its characters or words."}));
  fields.push_back(data_name_field());
  fields.push_back(flag<[](RunSpec& s) -> bool& {
    return s.data.consecutive;
  }>({"data.consecutive", "consecutive", "",
      "Each row of a batch goes on where it ended in the step before, instead of anywhere in the text; a memory "
      "needs it."}));
  fields.push_back(integer<[](RunSpec& s) -> uint64_t& { return s.data.data_seed; }>(
      {"data.seed", "data seed", "",
       "Which of the endless built-in texts, made-up labels or treebanks, or sets of drawn digits is used."},
      0, 9007199254740992.0));
  fields.push_back(text<[](RunSpec& s) -> std::string& { return s.name; }>(
      {"run.name", "name", "", "What the run is called; empty names it after its settings.", true}));
  fields.push_back(integer<[](RunSpec& s) -> uint64_t& { return s.seed; }>(
      {"run.seed", "seed", "",
       "Decides all chance: initial weights, batches, dropout. Runs with one seed differ only by their "
       "settings."},
      0, 9007199254740992.0));
}

}  // namespace normscope
