#include "training/data/identity/unit_of.h"

namespace normscope {

std::string unit_of(const DataSpec& spec) {
  if (spec.form == TaskForm::Masked) return "byte";
  if (spec.name == "corpus") return "letter";
  if (spec.name == "text") return "character";
  if (spec.name == "pairs") return "piece";
  if (is_labelled(spec.name)) return "label";
  if (spec.name == "digits" || spec.name == "idx") return "class";
  if (spec.name == "treebank") return "transition";
  return spec.name == "translation" ? "word" : "symbol";
}

}  // namespace normscope
