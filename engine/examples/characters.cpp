// A Pre-LN transformer learns to continue a text, character by character: recorded from ops alone, evaluated on a part
// that it does not train on, and asked to write.
#include <algorithm>
#include <cstdio>
#include <string>

#include "engine/engine.h"

using namespace normscope;

namespace {

constexpr int kLayers = 2, kWidth = 32, kHeads = 4, kBatch = 16, kPositions = 24;
const std::string kLetters = "abcdefghijklmnopqrstuvwxyz .";

/// A text of sentences that are put together at random: "the small dog sees a red house. "
std::string sentences(int count, uint32_t kind) {
  const std::vector<std::vector<std::string>> parts{
      {"the ", "a ", "every "},    {"small ", "old ", "red ", "quiet "},
      {"dog ", "child ", "bird "}, {"sees ", "likes ", "finds "},
      {"the ", "a ", "every "},    {"house. ", "river. ", "garden. "}};
  std::string text;
  for (uint32_t s = 0; s < static_cast<uint32_t>(count); ++s)
    for (size_t p = 0; p < parts.size(); ++p)
      text += parts[p][random_word(p, kind, s, Purpose::Corpus, 1) % parts[p].size()];
  return text;
}

int32_t token(char letter) { return static_cast<int32_t>(kLetters.find(letter)); }

/// Records the decoder on `batch` sequences, and returns its logits.
ValueId record(Tape& tape, int batch) {
  const int letters = static_cast<int>(kLetters.size());
  const ValueId tokens = tape.input("tokens", {batch, kPositions}, DType::I32);
  tape.declare("letters", {letters, kWidth}, {Init::Kind::Normal, 0.1});
  tape.declare("positions", {kPositions, kWidth}, {Init::Kind::Normal, 0.1});
  ValueId h = embedding(tape, "embedding", tokens, tape.parameter("letters"), tape.parameter("positions"), 1);
  for (int l = 1; l <= kLayers; ++l) {
    const auto in = tape.scope("L" + std::to_string(l));  // L1.wq, L1.wk, ...
    const ValueId x = layer_norm(tape, "norm1", h);
    const ValueId q = linear(tape, "wq", x, kWidth), k = linear(tape, "wk", x, kWidth),
                  v = linear(tape, "wv", x, kWidth);
    const ValueId mixed = attention(tape, "attention", q, k, v, kNone, {.heads = kHeads, .causal = true});
    h = add(tape, "after_attention", h, linear(tape, "wo", mixed, kWidth));
    const ValueId y = gelu(tape, "gelu", linear(tape, "fc1", layer_norm(tape, "norm2", h), 4 * kWidth));
    h = add(tape, "after_feed_forward", h, linear(tape, "fc2", y, kWidth));
  }
  return linear(tape, "logits", layer_norm(tape, "last_norm", h), letters);
}

ValueId record_loss(Tape& tape, int batch) {
  const ValueId logits = record(tape, batch);
  return softmax_xent(tape, "loss", logits, tape.input("targets", {batch * kPositions}, DType::I32));
}

/// Fills a batch with pieces of the text; the target of a character is the next one.
void fill(Program& program, const std::string& text, uint32_t step) {
  const auto tokens = program.tokens("tokens"), targets = program.tokens("targets");
  for (size_t i = 0; i < tokens.size(); ++i) {
    const size_t sequence = i / kPositions;
    const size_t from =
        random_word(sequence, site_of("piece"), step, Purpose::Batch, 1) % (text.size() - kPositions - 1);
    tokens[i] = token(text[from + i % kPositions]);
    targets[i] = token(text[from + i % kPositions + 1]);
  }
}

/// Continues a text by the most probable character, `count` times.
std::string write(Program& program, std::string text, int count) {
  for (int n = 0; n < count; ++n) {
    const size_t seen = std::min<size_t>(text.size(), kPositions);  // position t looks at no later one
    for (size_t t = 0; t < seen; ++t) program.tokens("tokens")[t] = token(text[text.size() - seen + t]);
    program.replay({});
    const auto logits = program.read("logits");
    const auto last = logits.begin() + static_cast<std::ptrdiff_t>((seen - 1) * kLetters.size());
    text += kLetters[static_cast<size_t>(
        std::max_element(last, last + static_cast<std::ptrdiff_t>(kLetters.size())) - last)];
  }
  return text;
}

}  // namespace

int main() {
  const std::string text = sentences(400, 1), held_out = sentences(100, 2);
  Store store = make_cpu_store(/*seed=*/1);
  Tape tape(store), held_out_tape(store), write_tape(store);
  const ValueId loss = record_loss(tape, kBatch), held_out_loss = record_loss(held_out_tape, kBatch);
  record(write_tape, 1);
  Program program = seal(tape, {.loss = loss, .clip = true});
  // Programs of one Store read the same weights. These two go forward alone.
  Program evaluation = seal(held_out_tape, {.loss = held_out_loss, .backward = false});
  Program writer = seal(write_tape, {});

  for (uint32_t step = 1; step <= 300; ++step) {
    fill(program, text, step);
    StepInputs inputs = Adam{.lr = 3e-3f * std::min(1.0f, static_cast<float>(step) / 20)}.step(step);
    inputs.clip = 1;
    program.replay(inputs);
    if (step % 100 > 0) continue;
    fill(evaluation, held_out, 1);
    evaluation.replay({});
    std::printf("step %u  loss %.3f  held out %.3f\n", step, program.loss(), evaluation.loss());
  }
  std::printf("%s\n", write(writer, "the old ", 40).c_str());
}
