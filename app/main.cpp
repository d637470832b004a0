// The program's entry; its commands are in app/commands.
#include "app/commands/commands.h"

int main(int argc, char** argv) { return normscope::commands::run(argc, argv); }
