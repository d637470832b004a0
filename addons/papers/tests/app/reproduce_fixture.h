// The reproduce fixture is a claim on a model that takes no time, with a line of every kind, for the tests of normscope
// reproduce.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "addons/papers/app/reproduce/finding.h"
#include "refusals/refusals.h"
#include "training/support/tiny.h"

namespace normscope::fixture {

/// The tiny lines of one run, on one line each.
inline const std::string kTinyLines = test::tiny_lines() + "train.steps = 12\n";

inline const std::string kTinyClaim = test::refusal_base("claim");

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

/// Concludes as from recorded numbers, the measures' values by seed; it knows the fall of no loss.
inline reproduce::Outcome judge_values(const reproduce::Claim& claim,
                                       const std::map<std::string, std::vector<double>>& values,
                                       int32_t seeds) {
  reproduce::Outcome outcome;
  outcome.claim = &claim;
  outcome.seeds = outcome.results.seeds = seeds;
  for (const course::Measure& m : claim.language.measures) {
    course::Measured& measured = outcome.results.measures[m.id];
    if (values.contains(m.id)) measured.values = values.at(m.id);
    for (size_t i = 0; i < measured.values.size(); ++i) measured.seeds.push_back(static_cast<int32_t>(i) + 1);
    measured.spread = spread_of(measured.values, m.mean);
  }
  conclude_recorded(outcome, {}, {});
  return outcome;
}

}  // namespace normscope::fixture
