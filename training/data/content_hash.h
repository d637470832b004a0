// What is in a file, as a short text: two files with one hash are taken for the same, whatever their names.
#pragma once

#include <string>

namespace normscope {

/// A hash of a file, or of the files in a folder (not of its folders) with their names. Empty where there is nothing to
/// be read. A file is read again only where its size or its time has changed, or may still change unseen.
std::string content_hash(const std::string& path);

}  // namespace normscope
