// Makes a published model a run as any other: its specification, its weights (train.init_from) and a passage in
// its own tokens. So it is looked into, changed, trained on, forked and compared by what does that with every run.
#pragma once

#include <string>
#include <string_view>

#include "training/spec/spec.h"

namespace normscope::published {

/// The most tokens of a passage that such a run reads at once, if its positions reach so far.
inline constexpr int32_t kMostRow = 256;

/// What such a run reads until it is given another text.
inline constexpr std::string_view kPassage =
    "The dog that lives next door is a good dog. It barks when the postman comes, and it sleeps when the house is "
    "quiet. In the morning it waits at the gate, because the children give it a piece of bread.";

/// Whether a path leads (folder_of) to a folder that has a config.json and weights beside it, or to a GGUF file.
bool is_published(const std::string& path);

/// Reads the folder's config.json, tokenizer and the headers of its weights. Training it on is gentle: one row
/// a step, Adam at 1e-5. Throws Error for what cannot be opened and for a passage of fewer than two tokens.
/// A folder without a tokenizer reads numbers of tokens; instead of words it gets some from all over its table.
RunSpec run_of(const std::string& folder, std::string_view passage = kPassage);

}  // namespace normscope::published
