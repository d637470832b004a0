// A claim on a model that takes no time, with a line of every kind: for the tests of normscope reproduce.
#pragma once

#include <string>

namespace normscope::fixture {

/// Of one run, on one line each.
inline const std::string kTinySizes =
    "model.layers = 2\nmodel.d_model = 16\nmodel.heads = 2\nmodel.feed_forward = 32\nmodel.sequence = 16\n"
    "train.batch = 4\ntrain.steps = 12\n";

inline const std::string kTinyClaim = R"(id = "tiny"
claim = "Post-LN ends higher than Pre-LN."
setting = "A model of a test."
seeds = 2
quick_seeds = 1
compares = "speed"

[source]
paper = "Nobody 2026"
item = "Figure 1"
version = "of a test"

[run.post]
name = "Post-LN"
model.placement = "post"
)" + kTinySizes + R"(
[run.pre]
name = "Pre-LN"
model.placement = "pre"
)" + kTinySizes + R"(
[curve.loss]
of = "run"
run = "post"
y = "loss"
steps = [1, 12]

[curve.norms]
of = "run"
run = "post"
y = "L01.ffn.w2.grad_norm / L02.ffn.w2.grad_norm"
steps = [1, 12]
relative = true

[curve.end]
of = "runs"
runs = ["post", "pre"]
y = "final_loss"

[curve.rates]
of = "grid"
run = "post"
axes = ["train.lr=1e-3,3e-3"]
y = "validation_bits"

[curve.gradients]
of = "profile"
run = "post"
y = "L*.ffn.w2.grad_norm"
step = 10

[curve.branches]
of = "profile"
run = "post"
y = "L*.ffn.branch.variance / L*.ffn.input.variance"
at = "start"

[curve.own]
of = "shares"
run = "post"
y = "own"
at = "start"

[curve.without]
of = "left_out"
run = "post"
y = "top"

[curve.depth]
of = "depth"
run = "pre"
y = "own_shares"
xs = [1, 2]

[measure.post]
label = "final loss, Post-LN"
curve = "end"
take = "at"
x = 1
digits = 3
unit = "nats"

[measure.pre]
label = "final loss, Pre-LN"
curve = "end"
take = "at"
x = 2
digits = 3
unit = "nats"

[measure.lead]
label = "Post-LN less Pre-LN"
take = "difference"
first = "post"
second = "pre"

[measure.shares]
label = "sum of the own shares with two layers"
curve = "depth"
take = "at"
x = 4

[[check]]
measure = "lead"
low = 0.5
says = "Post-LN ends higher."
excludes = [{ what = "they end alike", value = 0 }]
opposite = { high = -0.5 }

[[number]]
what = "Post-LN"
value = 8.5
unit = "nats"
measure = "post"

[[number]]
what = "Pre-LN"
value = 34
unit = "nats"
read_off = true
measure = "pre"

[[beside]]
what = "shares"
measure = "shares"

[[drawing]]
title = "Loss"
x = "step"
y = "nats"
lines = [{ line = "loss", name = "Post-LN" }]

[verdict]
reproduced = "They differ by {lead}."
not_at_this_scale = "They differ by {lead} only."
contradicted = "Pre-LN ends higher: {lead}."
)";

/// A claim on sentence pairs, and what it trains where they are missing.
inline const std::string kPairsClaim = R"(id = "pairs"
claim = "Post-LN translates."
setting = "A model of a test."
seeds = 1

[source]
paper = "Nobody 2026"
item = "Figure 2"
version = "of a test"

[run.post]
name = "Post-LN"
model.architecture = "encoder-decoder"
data.pairs = "train.tsv"
data.valid = "test.tsv"
data.vocabulary = 60
)" + kTinySizes + R"(
[run.pre]
name = "Pre-LN"
model.architecture = "encoder-decoder"
model.placement = "pre"
data.pairs = "train.tsv"
data.valid = "test.tsv"
data.vocabulary = 60
)" + kTinySizes + R"(
[made_up.post]
name = "Post-LN"
model.architecture = "encoder-decoder"
data.name = "translation"
)" + kTinySizes + R"(
[made_up.pre]
name = "Pre-LN"
model.architecture = "encoder-decoder"
model.placement = "pre"
data.name = "translation"
)" + kTinySizes + R"(
[curve.bleu]
of = "runs"
runs = ["post", "pre"]
y = "bleu"

[measure.post]
label = "BLEU"
curve = "bleu"
take = "at"
x = 1

[[check]]
measure = "post"
low = 20
says = "It translates."
excludes = [{ what = "it does not", value = 0 }]
opposite = { high = -1 }

[verdict]
reproduced = "{post}."
not_at_this_scale = "{post} only."
contradicted = "{post}."
)";

}  // namespace normscope::fixture
