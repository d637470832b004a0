// Placement files: a placement of a user's own as TOML, one in a file, offered wherever the rows of placements.def are.
//
//   name = "mine"                      # small letters, digits and hyphens
//   label = "Mine"
//   sublayer = "before=ln after=ln"    # a wiring; ln stands for the norm that the model uses
//   final = true
//   norm = "rms-simple"                # what ln stands for here, where the model's choice is not asked
//   [layers]
//   L03.attn = "stream=ln"
//
// docs/configuration.md lists the keys. What is kept of a run never names such a placement (spec.h, portable_edits), so
// it opens where the file is not.
//
// Promises: an unknown key, a wrong type, a word that no wiring has or a name that is taken throws Error as
// "FILE:LINE: [sublayer] 'before=nl': ..."; what placement_text writes, parse_placement reads back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"
#include "engine/model/wiring.h"

namespace normscope {

/// The content of a file.
struct PlacementFile {
  std::string name, label, short_label, formula, source, slots;
  std::vector<SingleSublayer> single;
  PlacementRow wired;  ///< all but the texts and the single sub-layers
  std::string at;      ///< "FILE:LINE" of its name
  /// Points into this.
  PlacementRow row() const;
};
/// Reads from memory; `file` stands for the file in errors.
PlacementFile parse_placement(std::string_view text, const std::string& file);
/// Adds it. Throws Error where its name or label is taken.
Placement offer(const PlacementFile& placement);

/// Writes the file of what stands in a stack. A number that follows a rule is written as the rule, and
/// what most layers have as `sublayer`, so that it fills other depths too. `label` may be empty. Throws Error for a
/// stack that no such file gives.
std::string placement_text(const std::string& name, const std::string& label, const StackWiring& stack,
                           NormKind norm, const StackContext& context);

/// Writes a wiring as a formula, "x + N(f(N(x)))", for a file that has none.
std::string formula_of(const Wiring& wiring);

/// The folder beside a configuration whose placements its runs may name.
inline constexpr const char* kPlacementsName = "placements";
/// Where a user's own lie: $NORMSCOPE_PLACEMENTS, else `placements` in the configuration folder;
/// empty where there is no home.
std::string placements_folder();
/// Offers every placement of a folder that can be read, and says of each other file in one line why
/// not. A folder that is not there has none.
std::vector<Message> load_placements(const std::string& folder);

}  // namespace normscope
