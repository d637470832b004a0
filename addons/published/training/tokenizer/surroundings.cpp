// See component.h.
#include "addons/published/training/tokenizer/component.h"

#include "addons/published/training/tokenizer/model/token_table.h"

namespace normscope::tokenizer {
namespace {

int32_t read_id(const InputValue& value) { return value.whole(0, kMostTokens - 1); }

std::vector<int32_t> read_special(const InputValue& tokens, const std::string& name) {
  const auto found = tokens.find(name);
  if (!found) tokens.refuse({"an object with {}", shown_text(name)});
  std::vector<int32_t> ids;
  for (const InputValue& id : found->at("ids").list(1, kMostParts)) ids.push_back(read_id(id));
  return ids;
}

Surroundings read_template(const InputValue& value) {
  Surroundings made;
  const InputValue single = value.at("single");
  int texts = 0;
  for (const InputValue& part : single.list(1, kMostParts)) {
    if (const auto special = part.find("SpecialToken")) {
      const auto ids = read_special(value.at("special_tokens"), special->at("id").text(kMostWord));
      auto& to = texts == 0 ? made.before : made.behind;
      to.insert(to.end(), ids.begin(), ids.end());
      continue;
    }
    const InputValue sequence = part.at("Sequence").at("id");
    if (!sequence.is("A")) sequence.refuse("\"A\", as there is one text");
    ++texts;
  }
  if (texts != 1) single.refuse("the text in it once");
  return made;
}

/// Reads BertProcessing and RobertaProcessing, which for one text are the same.
Surroundings read_pair_of_tokens(const InputValue& value) {
  const auto id = [&](const char* key) { return read_id(value.at(key).list(2, 2)[1]); };
  return {{id("cls")}, {id("sep")}};
}

Surroundings read_nothing_around(const InputValue&) { return {}; }

// Each one puts its own around what those before it made.
Surroundings read_around_sequence(const InputValue& value) {
  Surroundings made;
  for (const InputValue& part : value.at("processors").list(0, kMostParts)) {
    const Surroundings next = read_surroundings(part);
    made.before.insert(made.before.begin(), next.before.begin(), next.before.end());
    made.behind.insert(made.behind.end(), next.behind.begin(), next.behind.end());
  }
  return made;
}

}  // namespace

Surroundings read_surroundings(const InputValue& value) {
  constexpr ComponentReader<Surroundings> kProcessors[] = {{"Sequence", read_around_sequence},
                                                           {"TemplateProcessing", read_template},
                                                           {"BertProcessing", read_pair_of_tokens},
                                                           {"RobertaProcessing", read_pair_of_tokens},
                                                           {"ByteLevel", read_nothing_around}};
  if (value.is_null()) return {};
  return read_component(value, kProcessors);
}

}  // namespace normscope::tokenizer
