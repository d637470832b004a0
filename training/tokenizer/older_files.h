// Checkpoints of before tokenizer.json have vocab.txt (BERT), or vocab.json with merges.txt (GPT-2, RoBERTa, OPT).
#pragma once

#include <string>

namespace normscope::tokenizer {

/// `from_older_files` writes the tokenizer.json that says what these files of a folder say, with tokenizer_config.json
/// where there is one. Throws Error.
std::string from_older_files(const std::string& folder);

}  // namespace normscope::tokenizer
