// The reproduce fixture is a claim on a model that takes no time, with a line of every kind, for the tests of normscope
// reproduce.
#pragma once

#include <string>

#include "refusals/refusals.h"
#include "training/support/tiny.h"

namespace normscope::fixture {

/// `kTinyLines` are those of one run, on one line each.
inline const std::string kTinyLines = test::tiny_lines() + "train.steps = 12\n";

inline const std::string kTinyClaim = test::refusal_base("claim");

/// `kPairsClaim` is a claim on sentence pairs, and what it trains where they are missing.
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
)" + kTinyLines + R"(
[run.pre]
name = "Pre-LN"
model.architecture = "encoder-decoder"
model.placement = "pre"
data.pairs = "train.tsv"
data.valid = "test.tsv"
data.vocabulary = 60
)" + kTinyLines + R"(
[made_up.post]
name = "Post-LN"
model.architecture = "encoder-decoder"
data.name = "translation"
)" + kTinyLines + R"(
[made_up.pre]
name = "Pre-LN"
model.architecture = "encoder-decoder"
model.placement = "pre"
data.name = "translation"
)" + kTinyLines + R"(
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
