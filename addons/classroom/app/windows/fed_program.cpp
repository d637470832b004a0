// No program is fed on Windows: the fed programs write to a file by its number (FedProgram::kMade), which Windows
// does not have.
#include "addons/classroom/app/commands/fed_program.h"

namespace normscope::cli {

FedProgram::FedProgram(const std::vector<std::string>& words) : name_(words.at(0)) {
  throw Error("{} cannot be started: the program for Windows feeds no other (make the film on Linux)", name_);
}
FedProgram::~FedProgram() = default;

bool FedProgram::feed(const void*, size_t) { return false; }
void FedProgram::finish() {}
void FedProgram::copy_to(AtomicFile&) {}

}  // namespace normscope::cli
