// Placement files: a user's own placement as TOML, one in a file, offered wherever the rows of placements.def are.
//
//   name = "mine"                      # small letters, digits and hyphens
//   label = "Mine"
//   sublayer = "before=ln after=ln"    # a wiring; ln stands for the norm that the model uses
//   final = true
//   norm = "rms-simple"                # the norm that ln means here, whatever the model's choice
//   [layers]
//   L03.attn = "stream=ln"
//
// docs/configuration.md lists the keys. A saved run never names such a placement (spec.h, portable_edits), so it opens
// without the file.
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
  /// Points into this object.
  PlacementRow row() const;
};
/// Reads from memory; `file` is the name of the file in errors.
PlacementFile parse_placement(std::string_view text, const std::string& file);
/// Adds the placement to those of placements.def. Throws Error where its name or label is taken.
Placement offer(const PlacementFile& placement);

/// Writes the placement file of a stack's wiring. A number that follows a rule is written as the rule, and the wiring
/// of most layers as `sublayer`, so that the file fits other depths too. `label` may be empty. Throws Error for a stack
/// that no placement file describes.
std::string placement_text(const std::string& name, const std::string& label, const StackWiring& stack,
                           NormKind norm, const StackContext& context);

/// Writes a wiring as a formula, "x + N(f(N(x)))", for a file that has none.
std::string formula_of(const Wiring& wiring);

/// The name of the folder next to a configuration file with placements that its runs may name.
inline constexpr const char* kPlacementsName = "placements";
/// The folder of the user's own placements: $NORMSCOPE_PLACEMENTS, else `placements` in the configuration folder; empty
/// where there is no home.
std::string placements_folder();
/// Offers the placement of every .toml file in a folder, and returns a line with the error for each file that cannot be
/// read. A missing folder has none.
std::vector<Message> load_placements(const std::string& folder);

}  // namespace normscope
