// The program's entry; everything it does is in app/cli.
#include "app/cli/cli.h"

int main(int argc, char** argv) { return normscope::cli::run(argc, argv); }
