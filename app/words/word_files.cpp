#include "app/words/word_files.h"

#include "word_files_data.h"  // written by app/CMakeLists.txt

namespace normscope::words {

std::span<const WordFile> word_files() { return kWordFiles; }

}  // namespace normscope::words
