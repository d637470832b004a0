// Reads the files of addons/published/families. See family.h.
#include "addons/published/training/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/core/error.h"
#include "training/io/text.h"
#include "training/io/toml.h"

namespace normscope::published {
namespace {

std::string text_of(const toml::node& node, std::string_view key) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto whole = node.value_exact<int64_t>()) return fmt::format("{}", *whole);
  if (const auto real = node.value_exact<double>()) return fmt::format("{}", *real);
  fail("family", "{}: {}: expected a text, a number, true or false", key, what_it_is(node));
}

/// Reads a text or a list of texts.
std::vector<std::string> texts_of(const toml::node& node, std::string_view key) {
  std::vector<std::string> texts;
  if (const toml::array* list = node.as_array())
    for (const toml::node& item : *list) texts.push_back(text_of(item, key));
  else
    texts.push_back(text_of(node, key));
  return texts;
}

/// Members that are not given keep their value.
Setting setting_of(const toml::node& node, std::string_view key, Setting setting = {}) {
  const toml::table* table = node.as_table();
  if (!table) return {.keys = {}, .absent = text_of(node, key), .null = {}};
  if (table->contains("values")) setting.values.clear();
  for (const auto& [name, value] : *table) {
    if (name == "key")
      setting.keys = texts_of(value, key);
    else if (name == "default")
      setting.absent = text_of(value, key);
    else if (name == "null")
      setting.null = text_of(value, key);
    else if (name == "when")
      setting.when = text_of(value, key);
    else if (name == "take")
      setting.take = text_of(value, key);
    else if (name == "words")
      setting.words = text_of(value, key);
    else if (name == "values" && value.is_table())
      for (const auto& [theirs, ours] : *value.as_table())
        setting.values.emplace(theirs.str(), text_of(ours, key));
    else
      fail("family", "{}: {} is unknown: expected key, default, null, values, when, take or words", key,
           name.str());
  }
  if (!setting.take.empty() && !rule_named(setting.take))
    fail("family", "{}: there is no function {}", key, setting.take);
  return setting;
}

/// Writes out a group: "b{q,k}" is bq, bk.
std::vector<std::string> expanded(const std::string& name) {
  const size_t open = name.find('{'), close = name.find('}');
  if (open == name.npos || close == name.npos) return {name};
  std::vector<std::string> names;
  for (const std::string_view letters : split(std::string_view(name).substr(open + 1, close - open - 1), ','))
    names.push_back(name.substr(0, open) + std::string(letters) + name.substr(close + 1));
  return names;
}

void add_rows(Family& family, const toml::table& table, bool linear) {
  for (const auto& [key, node] : table) {
    const std::vector<std::string> ours = expanded(std::string(key.str()));
    std::vector<Row> rows(ours.size());
    for (const std::string& other : texts_of(node, key.str())) {
      const std::vector<std::string> theirs = expanded(other);
      if (theirs.size() != 1 && theirs.size() != ours.size())
        fail("family", "{}: {} stands for {} names: expected {}, or one", key.str(), other, theirs.size(),
             ours.size());
      const bool fused = theirs.size() < ours.size();
      for (size_t i = 0; i < ours.size(); ++i) {
        rows[i].linear = linear;
        rows[i].theirs.push_back(theirs[fused ? 0 : i]);
        if (!fused) continue;
        rows[i].part = i;
        rows[i].parts.clear();
        for (const std::string& part : ours) rows[i].parts += part.back();
      }
    }
    for (size_t i = 0; i < ours.size(); ++i) family.rows[ours[i]] = rows[i];
  }
}

const toml::table& table_of(const toml::node& node, std::string_view key) {
  if (!node.is_table()) fail("family", "{}: {}: expected a table", key, what_it_is(node));
  return *node.as_table();
}

void read_entry(Family& family, std::string_view key, const toml::node& node) {
  if (key == "title") {
    family.title = text_of(node, key);
  } else if (key == "prefix") {
    family.prefix = text_of(node, key);
  } else if (key == "groups") {
    family.groups = static_cast<int32_t>(node.value<int64_t>().value_or(0));
  } else if (key == "neighbours" || key == "swapped") {
    (key == "neighbours" ? family.neighbours : family.swapped) = expanded(text_of(node, key));
  } else if (key == "passed" || key == "zeros" || key == "only") {
    (key == "passed" ? family.passed : key == "zeros" ? family.zeros : family.only) = texts_of(node, key);
  } else if (key == "must") {
    for (const auto& [name, value] : table_of(node, key))
      family.must[std::string(name.str())] = text_of(value, key);
  } else if (key == "settings") {
    for (const auto& [name, value] : table_of(node, key)) {
      if (name != kVocabulary && !name.str().starts_with("wiring.") && !find_field(name.str()))
        fail("family", "{} is no setting", name.str());
      family.settings[std::string(name.str())] = setting_of(value, name.str());
    }
  } else if (key == "tensors" || key == "linear") {
    add_rows(family, table_of(node, key), key == "linear");
  } else if (key == "first_row") {
    for (const auto& [name, value] : table_of(node, key))
      family.first_row[std::string(name.str())] = value.value_or(int64_t{0});
  } else if (key != "like" && key != "gguf") {
    fail("family", "{} is unknown", key);
  }
}

/// The two files that are not families: the keys and tensors of GGUF, and the refused types.
constexpr std::string_view kGguf = "gguf", kRefused = "refused";

const FamilyFile& file_of(std::string_view name) {
  return *std::ranges::find(family_files(), name, &FamilyFile::type);
}

std::map<std::string, Family> read_all() {
  std::map<std::string, Family> all;
  // A file may refer to a later file: it is read after that.
  for (size_t before = 0; all.size() + 2 < family_files().size(); before = all.size()) {
    for (const FamilyFile& file : family_files()) {
      const std::string type(file.type);
      if (all.contains(type) || type == kGguf || type == kRefused) continue;
      const toml::table table = parse_toml(file.text, type + ".toml");
      if (const auto like = table["like"].value<std::string>(); like && !all.contains(*like)) continue;
      all.emplace(type, parse_family(file.text, type, all));
    }
    if (all.size() == before) fail("family", "files refer to files that are not there, or to each other");
  }
  return all;
}

/// Replaces the family's keys of settings and its tensors by those of GGUF: first of gguf.toml, then of the table
/// [gguf] in the family's file.
Family as_gguf(Family family, const toml::table& shared, const toml::table& own) {
  family.prefix.clear();
  family.groups = 1;
  family.swapped.clear();
  family.rows.clear();
  family.first_row.clear();
  for (const toml::table* table : {&shared, &own})
    for (const auto& [key, node] : *table) {
      if (key == "architecture") continue;
      if (key != "settings") {
        read_entry(family, key.str(), node);
        continue;
      }
      for (const auto& [name, value] : table_of(node, key.str())) {
        const auto at = family.settings.find(std::string(name.str()));
        if (at != family.settings.end())
          at->second = setting_of(value, name.str(), at->second);
        else if (table == &own)
          family.settings.emplace(name.str(), setting_of(value, name.str()));
      }
    }
  for (const auto& [name, setting] : family.settings)  // what is obeyed may have any value
    for (const std::string& key : setting.keys) family.must.erase(key);
  return family;
}

std::map<std::string, Family> read_gguf() {
  const FamilyFile& shared = file_of(kGguf);
  std::map<std::string, Family> all;
  for (const FamilyFile& file : family_files()) {
    const toml::table table = parse_toml(file.text, std::string(file.type) + ".toml");
    const toml::table* own = table[kGguf].as_table();
    if (const auto name = own ? (*own)["architecture"].value<std::string>() : std::nullopt)
      all.emplace(*name,
                  as_gguf(families().at(std::string(file.type)), parse_toml(shared.text, "gguf.toml"), *own));
  }
  return all;
}

constexpr size_t kLongestType = 64;

std::string letters_of(std::string text) {
  std::erase_if(text, [](char c) { return c == '_' || c == '-'; });
  return small_letters(text);
}

/// The type of a model whose older config.json names only its class: "BertForMaskedLM" is of bert, "Gemma3ForCausalLM"
/// of gemma3_text. Empty where there is no such type.
std::string type_of_class(const InputValue& config) {
  const auto classes = config.find("architectures");
  if (!classes || !classes->is_list()) return {};
  for (const InputValue& value : classes->list(0, 16)) {
    const std::string name = letters_of(value.text(kLongestType));
    for (const auto& [type, family] : families()) {
      const std::string plain = letters_of(type.substr(0, type.find("_text")));
      const std::string rest = name.starts_with(plain) ? name.substr(plain.size()) : "none";
      if (rest.starts_with("for") || rest == "lmheadmodel" || rest == "model") return type;
    }
  }
  return {};
}

/// How many of these tensors a family has places for.
size_t places_in(const Family& family, std::span<const std::string> tensors) {
  std::set<std::string> places;
  for (const auto& [ours, row] : family.rows) places.insert(row.theirs.begin(), row.theirs.end());
  return static_cast<size_t>(std::ranges::count_if(tensors, [&](const std::string& tensor) {
    std::string_view name = tensor;
    if (name.starts_with(family.prefix)) name.remove_prefix(family.prefix.size());
    std::vector<std::string> parts;
    for (const std::string_view part : split(name, '.'))
      parts.push_back(part.find_first_not_of("0123456789") == part.npos ? "*" : std::string(part));
    return places.contains(fmt::format("{}", fmt::join(parts, ".")));
  }));
}

/// The type of a model of which only the tensors tell it: the one whose prefix they have, "bert.encoder.layer.0.…", or
/// else the one that has places for the most of them, if that is more than half. BERT's names are also those of younger
/// families, whose files say their type; RoBERTa's have one type of symbols. Empty where several remain.
std::string type_of_tensors(const InputValue& config, std::span<const std::string> names) {
  std::vector<std::string> nearest;
  size_t most = names.size() / 2;
  for (const auto& [type, family] : families()) {
    if (family.prefix == type + "." &&
        std::ranges::any_of(names, [&](const std::string& name) { return name.starts_with(family.prefix); }))
      return type;
    const size_t places = places_in(family, names);
    if (places > most) nearest.clear();
    if (places > names.size() / 2 && places >= most) nearest.push_back(type);
    most = std::max(most, places);
  }
  if (nearest.size() == 1) return nearest.front();
  const auto types = config.find("type_vocab_size");
  return types && types->whole(1, 64) == 2 && std::ranges::count(nearest, "bert") > 0 ? "bert" : "";
}

/// The text of an error for a refused type: the nearest type that opens, where refused.toml names one.
std::optional<Message> instead_of(const std::string& type) {
  struct Lack {
    std::string_view table;
    fmt::format_string<const std::string&> words;
  };
  static constexpr Lack kLacks[] = {{"experts", "{}, the nearest type without a mixture of experts"},
                                    {"recurrence", "{}, the nearest type without a recurrence"},
                                    {"two_stacks", "{}, the nearest type with one stack of layers"},
                                    {"other_input", "{}, the nearest type that reads text alone"},
                                    {"attention", "{}, the nearest type whose attention is known here"}};
  const toml::table all = parse_toml(file_of(kRefused).text, "refused.toml");
  for (const auto& [lack, words] : kLacks)
    for (const auto& [name, nearest] : *all[lack].as_table())  // "qwen2moe" in a GGUF file
      if (const std::string other = nearest.value_or(std::string());
          letters_of(std::string(name.str())) == letters_of(type))
        return Message(words, other);
  return {};
}

/// The type of a folder that has the model of a GGUF file's architecture. Empty: none opens.
std::string folder_type_of(const std::string& architecture) {
  const toml::table all = parse_toml(file_of(kRefused).text, "refused.toml");
  const std::string type = all["folder"][architecture].value_or(architecture);
  return families().contains(type) ? type : "";
}

}  // namespace

Family parse_family(std::string_view text, const std::string& type,
                    const std::map<std::string, Family>& like) {
  const toml::table table = parse_toml(text, type + ".toml");
  Family family;
  if (const auto other = table["like"].value<std::string>()) {
    const auto at = like.find(*other);
    if (at == like.end()) fail("family", "{}.toml: there is no {}", type, *other);
    family = at->second;
  }
  family.type = type;
  for (const auto& [key, node] : table) try {
      read_entry(family, key.str(), node);
    } catch (const Error& error) {
      throw Error("{}.toml: {}", type, error.message);
    }
  return family;
}

const std::map<std::string, Family>& families() {
  static const std::map<std::string, Family> all = read_all();
  return all;
}

const std::map<std::string, Family>& gguf_families() {
  static const std::map<std::string, Family> all = read_gguf();
  return all;
}

const Family& family_of(const InputValue& config, const std::function<std::vector<std::string>()>& tensors) {
  const auto architecture = config.find("general.architecture"), type = config.find("model_type");
  const auto& all = architecture ? gguf_families() : families();
  const auto at = all.find(architecture ? architecture->text(kLongestType)
                           : type       ? type->text(kLongestType)
                           : config.find("architectures")
                               ? type_of_class(config)
                               : type_of_tensors(config, tensors ? tensors() : std::vector<std::string>()));
  if (at != all.end()) return at->second;
  std::vector<std::string> known;
  for (const auto& [name, family] : all) known.push_back(name);
  const InputValue refused = config.at(architecture ? "general.architecture" : "model_type");
  const std::string asked = refused.is_text() ? refused.text(kLongestType) : "";
  if (const auto instead = instead_of(asked)) refused.refuse(*instead);
  std::vector<std::string> names;
  try {
    if (tensors) names = tensors();
  } catch (const Error&) {  // the type is what is wrong first
  }
  // The nearest by its tensors comes first, and of several the one that the name contains: llama for my_llama.
  std::ranges::stable_sort(known, std::ranges::greater(), [&](const std::string& name) {
    return std::pair(places_in(all.at(name), names), asked.find(name) == asked.npos ? 0 : name.size());
  });
  if (const std::string folder = architecture ? folder_type_of(asked) : ""; !folder.empty())
    refused.refuse(
        Message("the folder of this model, whose type {} opens, or a file of {}", folder, one_of(known)));
  refused.refuse(one_of(known));
}

}  // namespace normscope::published
