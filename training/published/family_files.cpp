#include "family_files_data.h"  // written by training/CMakeLists.txt
#include "training/published/family.h"

namespace normscope::published {

std::span<const FamilyFile> family_files() { return kFamilyFiles; }

}  // namespace normscope::published
