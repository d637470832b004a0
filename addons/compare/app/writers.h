// Write a comparison as text for a terminal, Markdown, JSON and CSV. docs/log-format.md has the fields.
#pragma once

#include <nlohmann/json.hpp>

#include "addons/compare/app/comparison.h"

namespace normscope::compare {

/// Writes the runs, the settings that differ, the first places and the table at the end.
std::string to_text(const Comparison&);
/// Writes the same as a page. `pictures` are paths as seen from the page; it may be empty.
std::string to_markdown(const Comparison&, const std::vector<std::string>& pictures = {});
/// Writes format "normscope comparison 1". Numbers have six digits; a number that is not finite or not known is null.
nlohmann::json to_json(const Comparison&);

std::string settings_csv(const Comparison&);
/// Writes every point of a run's map: layer, step, place on the shared axis, log10 of the ratio.
std::string map_csv(const Comparison&, size_t run);
std::string end_csv(const Comparison&);

// Numbers of a comparison in words, the same in every sentence, table and figure; each comment shows results of the
// function. Only this add-on calls them.

/// "2.93", "3.2×10³⁸", "–".
std::string nats_words(double nats, int digits = 2);
/// "+0.16", "−1.78", "–".
std::string signed_decimals(double value, int digits = 2);
/// "7.7×", "12 000×".
std::string times(double factor);
/// "7.7× smaller"; "within 2×" for a smaller factor.
std::string ratio_words(double ratio);
/// "7.7× smaller than B's", "zero, unlike B's".
std::string held_against(double ratio, const std::string& other);
/// "layer 6", "decoder layer 6".
std::string layer_words(const std::string& stack, int32_t layer);
/// "B's", as it stands after "smaller than".
std::string owned_by(char letter);
/// "layer 6, W_K", "decoder layer 6, W_K".
std::string tensor_words(const FirstPlace& place);
/// "gradient size of W₂", "mean square of the state".
std::string metric_words(const Choice& choice);
/// The number of seeds whose history has more than losses.
size_t measuring_seeds(const Recording& run);
/// "of B's 5 seeds", or "of B" for one. It counts measuring_seeds(), so it does not suit losses.
std::string seeds_of_baseline(const Comparison& all);
/// "seed 1"; "" where the seed is unknown.
std::string seed_words(const SeedRecord& seed);
/// "0.01", "0.003".
std::string deviation_words(const EndRow& row);
/// "0.96 ± 0.01", "0.96".
std::string loss_words(const EndRow& row);
/// "0.0049", "4.9×10⁻⁵", "–".
std::string update_words(const EndRow& row);
/// "22", "not yet", "–".
std::string leaves_words(const EndRow& row);
/// A setting's value, or "not in its log".
std::string value_words(const Comparison& all, const Setting& setting, size_t run);
/// Groups runs that share a text: "E and F: data: not in its log". Leaves out empty texts.
std::vector<std::string> together(const Comparison& all,
                                  const std::vector<std::pair<size_t, std::string>>& by_run);
/// Says that some runs count their steps from 0 and others from 1; empty where all count alike.
std::string counting_sentence(const Comparison& all);
/// Says which logs could not be read in full; empty where all could.
std::string unread_sentence(const Comparison& all);
/// Why the losses of a run and the baseline's do not compare: "other data: corpus.txt, 138 symbols",
/// "data: not in its log"; empty where both read the same data.
std::string data_words(const Comparison& all, size_t run);
/// The edits of a run: "12 norms moved at 300; learning rate 0.001 at 400"; "none".
std::string edits_words(const Recording& run);
/// "better, 5 of 5"; "at step 60, mean of 20; better, 5 of 5" where the difference is not between the two ends.
std::string against_words(const Difference& difference);
/// "mean of up to the last 25 steps, 5 seeds each".
std::string window_words(const Comparison& all);

/// The table at the end as text: a head, then a row per run in the order of all.rows.
std::vector<std::vector<std::string>> end_table(const Comparison& all);
/// The settings that differ: a head, then a row per setting. `mark` precedes a value that differs from the baseline's.
std::vector<std::vector<std::string>> settings_table(const Comparison& all, const std::string& mark);

}  // namespace normscope::compare
