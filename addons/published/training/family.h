// A family of published models as data: how the keys of its config.json become our settings, and its tensors our
// parameters. addons/published/families has a file for each family; its README.md describes the format.
//
// Promises: a folder's config.json is read as a whole. A setting that we do not have, or a value that we do not have
// for it, is refused in one line that names it. Nothing here reads a tensor.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/io/input_value.h"
#include "training/spec/spec.h"

namespace normscope::published {

/// A key of a family's settings that is no field of a run: a run has the vocabulary of its data.
inline constexpr std::string_view kVocabulary = "vocabulary";

/// Where the value of one of our settings comes from.
struct Setting {
  std::vector<std::string> keys;                   ///< of config.json; none: the value is `absent`
  std::optional<std::string> absent, null;         ///< the value where no key is there, where one is null
  std::map<std::string, std::string> values = {};  ///< theirs -> ours; empty: as it is
  std::string when = {}, take = {};
  std::string words = {};  ///< a text in which the value replaces a star
};

/// The tensor of theirs that holds one of our parameters. `*` stands for the layer.
struct Row {
  std::vector<std::string> theirs;  ///< names, any of which a file may use
  bool linear = false;              ///< theirs lies as (outputs, inputs)
  /// Of a fused matrix: the last letters of the names of its parts in their order ("qkv"), and which it is.
  std::string parts = {};
  size_t part = 0;
};

struct Family {
  std::string type, title, prefix;
  int32_t groups = 1;  ///< of the parts of q, k and v; 0: one for each head of keys
  /// Our matrices whose file has the two numbers of a rotary pair next to each other, or swapped.
  std::vector<std::string> neighbours, swapped;
  std::vector<std::string> passed;
  std::vector<std::string> zeros;  ///< our vectors that the family lacks; as zeros they add nothing
  std::vector<std::string>
      only;  ///< all keys that a config.json may have, where another may mean another model
  std::map<std::string, std::string> must;
  std::map<std::string, Setting> settings;
  std::map<std::string, Row> rows;  ///< by our name
  std::map<std::string, int64_t> first_row;
};

/// A file of addons/published/families, which the build put into the library.
struct FamilyFile {
  std::string_view type, text;
};
std::span<const FamilyFile> family_files();

/// All families by type. Throws Error for a file that is wrong.
const std::map<std::string, Family>& families();
/// The families in the form of GGUF files, by `general.architecture`.
const std::map<std::string, Family>& gguf_families();
/// Reads one file; `like` has the families that it may refer to.
Family parse_family(std::string_view text, const std::string& type,
                    const std::map<std::string, Family>& like = families());

/// The family of a config.json, or of GgufFile::config(). A config.json that names neither type nor class leaves it to
/// the names that `tensors` tells. Throws Error, which lists the known types, first that with places for most tensors.
const Family& family_of(const InputValue& config,
                        const std::function<std::vector<std::string>()>& tensors = {});

/// The value of a key such as "rope_parameters.rope_theta".
std::optional<InputValue> found(const InputValue& config, std::string_view key);

/// `Rule` is a function that a setting may name. `value` is from config.json, `text` the same or the default.
struct RuleInput {
  const InputValue& config;
  const RunSpec& spec;  ///< with the settings before this one, in the order of spec_fields()
  std::optional<InputValue> value;
  std::string text;
};
using Rule = std::string (*)(const RuleInput&);
/// nullptr: there is no such rule.
Rule rule_named(std::string_view name);

/// Fills in the specification that config.json describes, with its vocabulary. `positions` is the length of the texts
/// that will be read: a model without a table of positions gets so many. Throws Error, beginning with `where`.
RunSpec spec_of(const Family& family, const InputValue& config, std::string_view where, int32_t positions);

}  // namespace normscope::published
