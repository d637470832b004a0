// This test runs QK-clip in whole runs.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "catch.hpp"
#include "engine/support/helpers.h"
#include "training/support/small_runs.h"

namespace normscope::test {

TEST_CASE("qk-clip: a run keeps every largest logit, clips behind its steps and goes on bitwise",
          "[optimizer]") {
  RunSpec spec = small_spec("pre");
  set_field(spec, "train.lr", "0.03");
  set_field(spec, "train.qk_clip", "0.5");
  const auto clipped = make_run(spec);
  steps(*clipped, 6);
  set_field(spec, "train.qk_clip", "1e6");
  const auto measured = make_run(spec);
  steps(*measured, 6);
  set_field(spec, "train.qk_clip", "0");
  const auto plain = make_run(spec);
  steps(*plain, 6);
  CHECK(first_difference(plain->store(), measured->store()) == "");
  CHECK(first_difference(plain->store(), clipped->store()) != "");
  CHECK(plain->history()->find("L01.attn.batch_logit") < 0);
  const auto largest = [](Run& run) { return run.program().stat("L01.attn.batch_logit"); };
  CHECK(largest(*clipped) < largest(*measured));
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("normscope-clip-{}.safetensors", getpid());
  clipped->save(path.string());
  const auto resumed = Run::load(path.string(), small_task(spec.data), shared_backend());
  steps(*clipped, 3);
  steps(*resumed, 3);
  CHECK(first_difference(clipped->store(), resumed->store()) == "");
  std::filesystem::remove(path);
}

}  // namespace normscope::test
