// These tests give --backend: what the program says where there is no CUDA, and that a run goes on on the CPU when its
// device gives out. The device is the emulated one (tests/cuda/emulator) where that was built.
#include <nlohmann/json.hpp>

#include "addons.h"
#include "app/shell/settings.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "training/spec/backend_choice.h"
#include "training/support/tiny.h"

using namespace normscope::test;
namespace fs = std::filesystem;

namespace {

std::string train_line(const Folder& folder, const std::string& more) {
  return "train --config '" + folder.write("tiny.toml", kTiny) + "' --steps 45 " + more;
}

/// Reads the loss of each step in a log, and fails where the log has a step twice.
std::vector<double> losses(const std::string& log) {
  std::vector<double> all;
  std::set<int> seen;
  std::istringstream lines(read_all(log));
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    if (!row.contains("step") || !row.contains("loss") || row.value("type", "step") != "step") continue;
    CHECK(seen.insert(row["step"].get<int>()).second);
    all.push_back(row["loss"].get<double>());
  }
  return all;
}

}  // namespace

TEST_CASE("cli: --backend cuda trains, or says in one line why not") {
  const Folder folder;
  const Outcome outcome = run_program(train_line(folder, "--backend cuda"), "env -u NORMSCOPE_CUDA_LIBRARY");
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
TEST_CASE("cli: a run on the emulated device has the losses of the CPU") {
  const std::string emulated = "env NORMSCOPE_CUDA_LIBRARY='" NORMSCOPE_EMULATED "'";
  const Folder folder;
  const std::string log = folder.file("cpu.jsonl"), device_log = folder.file("cuda.jsonl");
  REQUIRE(run_program(train_line(folder, "--log '" + log + "'")).code == 0);
  const Outcome outcome =
      run_program(train_line(folder, "--backend cuda --log '" + device_log + "'"), emulated);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(outcome.err == "");
  const auto a = losses(log), b = losses(device_log);
  REQUIRE(a.size() == 45);
  REQUIRE(b.size() == 45);
  for (size_t i = 0; i < a.size(); ++i) CHECK(b[i] == Approx(a[i]).epsilon(1e-3));
}

TEST_CASE("cli: in Python's folder of packages the program finds the backend of the package beside its own") {
  const Folder folder;
  const fs::path program = fs::path(folder.file("normscope")) / "program/bin/normscope";
  fs::create_directories(program.parent_path());
  fs::copy_file(NORMSCOPE_PROGRAM, program);
  fs::create_symlink(NORMSCOPE_EMULATED, folder.file("libcuda.so.1"));  // stands for the driver's own library
  const auto code = [&] {
    return run_program("'" + program.string() + "' " + train_line(folder, "--backend cuda"),
                       "env -u NORMSCOPE_CUDA_LIBRARY LD_LIBRARY_PATH='" + folder.path.string() +
                           "' sh -c 'exec \"$@\"'")
        .code;
  };
  CHECK(code() == 8);
  fs::create_directories(folder.file("normscope_cuda"));
  fs::create_symlink(NORMSCOPE_EMULATED, fs::path(folder.file("normscope_cuda")) / "libnormscope_cuda.so");
  CHECK(code() == 0);
}

TEST_CASE("cli: when the device is lost or too small the run goes on on the CPU") {
  const std::string library = "env NORMSCOPE_CUDA_LIBRARY='" NORMSCOPE_EMULATED "' ";
  const Folder folder;
  const std::string log = folder.file("cpu.jsonl");
  REQUIRE(run_program(train_line(folder, "--log '" + log + "'")).code == 0);
  const auto expected = losses(log);
  for (const char* failure : {"NORMSCOPE_EMULATED_LAUNCHES=3", "NORMSCOPE_EMULATED_LAUNCHES=31",
                              "NORMSCOPE_EMULATED_MEMORY=100000"}) {
    INFO(failure);
    const std::string broken = folder.file("broken.jsonl"), saved = folder.file("run.safetensors");
    const Outcome outcome =
        run_program(train_line(folder, "--backend cuda --log '" + broken + "' --save '" + saved + "'"),
                    library + failure);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(is_one_error_line(outcome));
    CHECK(contains(outcome.err, ": going on on the CPU"));
    const auto got = losses(broken);
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-3));
    CHECK(run_program("train --resume '" + saved + "' --steps 50").code == 0);
  }
}

TEST_CASE("cli: when the device is lost a sweep ends with its line and code, and no run has failed by it") {
  if (!has_command("sweep")) return;
  const Folder folder;
  const std::string sweep = "sweep" + tiny_options(1) +
                            " --axis train.lr=1e-3,3e-3 --steps 12 --backend cuda"
                            " --store '" +
                            folder.file("runs") + "' ";
  const std::string library = "env NORMSCOPE_CUDA_LIBRARY='" NORMSCOPE_EMULATED "' ";
  for (const char* failure : {"NORMSCOPE_EMULATED_LAUNCHES=3", "NORMSCOPE_EMULATED_MEMORY=100000"}) {
    const Outcome lost = run_program(sweep, library + failure);
    INFO(failure << lost.out << lost.err);
    CHECK(lost.code == 8);
    CHECK(is_one_error_line(lost));
  }
  const Outcome whole = run_program(sweep, library);
  CHECK(whole.code == 0);
  CHECK(contains(whole.out, "2 runs trained, 0 taken from"));
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
