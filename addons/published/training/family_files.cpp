#include "addons/published/training/family.h"
#include "family_files_data.h"  // written by addons/published/training.cmake

namespace normscope::published {

std::span<const FamilyFile> family_files() { return kFamilyFiles; }

}  // namespace normscope::published
