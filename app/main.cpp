// The program's entry. Prints the version.
#include <cstdio>

int main() { std::printf("normscope %s\n", NORMSCOPE_VERSION); }
