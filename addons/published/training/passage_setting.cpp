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
}

}  // namespace normscope
