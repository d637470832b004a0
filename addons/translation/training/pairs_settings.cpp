// The settings of sentence pairs.
#include "addons/translation/training/pairs_task.h"
#include "training/spec/spec_fields.h"

namespace normscope {
namespace {

constexpr char kPairs[] = "pairs";
bool reads_pairs(const RunSpec& s) { return s.data.name == kPairs; }

}  // namespace

void add_pairs_settings(std::vector<Field>& fields) {
  insert_behind(
      fields, "data.text",
      {source<of_data<&PairsData::path>, kPairs>(
          {"data.pairs", "sentence pairs", "",
           "A UTF-8 file of sentences and their translations, one pair a line with a tab between, for an "
           "encoder-decoder."})});
  insert_behind(
      fields, "data.tokenizer",
      {read_if(reads_pairs, "data.name",
               integer<of_data<&PairsData::vocabulary>>(
                   {"data.vocabulary", "vocabulary", "pieces",
                    "How many pieces both languages of the pairs are cut into together; fewer where the text "
                    "has no more."},
                   20, 100000))});
  add_help(fields, "data.name", "Or pairs of sentences and their translations.");
  add_help(fields, "data.tokenizer",
           "For pairs, a SentencePiece model; where there is no such file their pieces are learned.");
}

}  // namespace normscope
