// The program's entry; what it can do is in app/commands.
#include "app/commands/commands.h"

int main(int argc, char** argv) { return normscope::commands::run(argc, argv); }
