// These tests run normscope record: the table of a log's names.
#include "app/support/program.h"
#include "catch.hpp"

using namespace normscope::test;

TEST_CASE("record --names says what the names in a log are, with a mapping and without") {
  const Folder folder;
  const std::string log = folder.write(
      "run.jsonl",
      R"({"step":1,"loss":2,"grad_norm":{"h.0.attn.c_attn.weight[q]":1,"net.1.q":2,"layers.3.mixer.weight":3},)"
      R"("mean_square":{"h.0":1}})"
      "\n");
  const Outcome plain = run_program("record --names " + log);
  CHECK(plain.code == 0);
  CHECK(contains(plain.out, "L01.attn.wq.grad_norm"));
  CHECK(contains(plain.out, "layers.3.mixer.weight.grad_norm, layer 4"));
  CHECK(contains(plain.out, "4 names, 2 of them not known"));
  const std::string mapping = folder.write("m.toml", "\"net.{layer}.q\" = \"L{layer}.attn.wk\"\n");
  const Outcome mapped = run_program("record --names " + log + " --mapping " + mapping);
  CHECK(mapped.code == 0);
  CHECK(contains(mapped.out, "L02.attn.wk.grad_norm"));
  CHECK(contains(mapped.out, "4 names, 1 of them not known"));
}

TEST_CASE("the log that train writes begins with a header and is read as a recorded run's") {
  const Folder folder;
  const std::string config = folder.write("tiny.toml", std::string(kTiny) + "[run.A]\n");
  REQUIRE(run_program("train --config " + config + " --steps 3 --log " + folder.file("log")).code == 0);
  CHECK(read_all(folder.file("log")).starts_with("{\"format\":\"normscope log 2\",\"maker\":\"normscope "));
  const Outcome names = run_program("record --names " + folder.file("log"));
  CHECK(names.code == 0);
  CHECK(contains(names.out, " 0 of them not known"));
}
