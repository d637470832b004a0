// The setting of a passage.
#include "addons/published/training/token_task.h"
#include "training/spec/spec_fields.h"

namespace normscope {
namespace {

constexpr char kPassage[] = "passage";

}  // namespace

void add_passage_setting(std::vector<Field>& fields) {
  Field field = source<of_data<&PassageData::text>, kPassage, true>(
      {"data.passage", "passage", "",
       "A text to learn from, spelled out, in the tokens of a published model (data.tokenizer)."});
  field.file = false;
  insert_behind(fields, "data.text", {field});
  add_help(fields, "data.name", "Or a passage, in a published model's tokens.");
  add_help(fields, "data.tokenizer",
           "For a text or passage, the folder of a published model whose tokenizer cuts it.");
  add_help(fields, "train.init_from", "It may also be the folder of a published model.");
}

}  // namespace normscope
