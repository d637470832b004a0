// This test runs QK-clip in whole runs.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "catch.hpp"
#include "engine/support/helpers.h"
#include "engine/support/named_placements.h"
#include "training/spec/spec.h"
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

TEST_CASE("qk-clip: other scores and unit vectors, which it does not know, leave it unread", "[spec]") {
  RunSpec relative = small_spec("pre");
  relative.model.positions = positions_or("relative", relative.model.positions);
  if (row_of(relative.model.positions).own_scores)
    CHECK(contains(unused_reason(relative, "train.qk_clip"), "model.positions is relative"));
  for (const Placement ngpt : known({"ngpt"}))
    CHECK(contains(unused_reason(small_spec(to_string(ngpt)), "train.qk_clip"), "model.placement is ngpt"));
}

}  // namespace normscope::test
