// What is on a tape and in its program, as names and numbers.
#include "addons/tape-screen/training/listing.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/support/five_nodes.h"
#include "engine/support/helpers.h"
#include "engine/tape/seal.h"

namespace normscope::test {

TEST_CASE("tape: its listing has names for all that the program holds, and where it lies", "[tape]") {
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  Store store(*backend);
  const FiveNodes f(store);
  store.materialize(1);
  const Program program = seal(f.tape, {.loss = f.loss});
  const Listing all = list(program.data());
  REQUIRE(all.nodes.size() == 5);
  CHECK(all.nodes[0].inputs == std::vector<std::string>{"tokens", "table", "positions"});
  CHECK(all.nodes[3].inputs == std::vector<std::string>{"sum", "table", "-"});
  CHECK(all.instructions.size() == program.data().instructions.size());
  CHECK(all.forward + all.backward + all.update == all.instructions.size());
  int adds = 0;
  for (const ListedInstruction& i : all.instructions)
    for (const ListedOperand& o : i.operands)
      if (o.write == "add") {
        ++adds;
        CHECK(o.place.block == "gradients");
      }
  CHECK(adds == 2);  // the table, used twice, and x, read twice
  const std::string text = to_string(all);
  for (const char* part : {"embedding", "relu", "linear", "softmax_xent", "(2,3,7)", "store+0", "batch+0",
                           "positions", "frozen", "  saves ", "stat loss", "on 1 parameters"})
    CHECK(test::contains(text, part));
}

}  // namespace normscope::test
