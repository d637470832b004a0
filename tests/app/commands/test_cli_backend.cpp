// These tests give --backend: what the program says where there is no CUDA, and that a run goes on on the CPU when its
// device gives out. The device is the emulated one (tests/cuda/emulator) where that was built.
#include "app/shell/settings.h"
#include "app/support/commands.h"
#include "training/spec/backend_choice.h"

using namespace normscope::test;

TEST_CASE("cli: --backend cuda trains, or says in one line why not") {
  const Folder folder;
  const Outcome outcome =
      run_program("train --config '" + folder.write("tiny.toml", kTiny) + "' --backend cuda",
                  "env -u NORMSCOPE_CUDA_LIBRARY");
  INFO(outcome.err);
  if (outcome.code == 0) {
    CHECK(outcome.err == "");
  } else {
    CHECK(outcome.code == 8);
    CHECK(is_one_error_line(outcome));
    CHECK(outcome.err.starts_with("normscope: --backend cuda: "));
  }
}

#ifdef NORMSCOPE_EMULATED
TEST_CASE("commands: on the emulated device", "[listing]") {
  const Variable emulated("EMULATED", NORMSCOPE_EMULATED);
  check_commands("emulated");
}
#endif

TEST_CASE("settings: the backend is remembered, and TF32 only with CUDA") {
  const Folder folder;
  const std::string path = folder.file("settings.toml");
  normscope::shell::Settings settings;
  settings.backend = {.cuda = true, .tf32 = true};
  normscope::shell::write_settings(path, settings);
  CHECK(normscope::shell::read_settings(path).settings == settings);
  folder.write("settings.toml", "tf32 = true\n");
  CHECK(normscope::shell::read_settings(path).settings.backend == normscope::BackendChoice{});
}
