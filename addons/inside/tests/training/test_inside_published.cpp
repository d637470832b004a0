// A published model that became a run is looked into as every run.
#include "addons/inside/tests/training/look_inside.h"
#include "addons/published/tests/training/opened_folder.h"
#include "catch.hpp"
#include "engine/support/helpers.h"

namespace normscope::test_inside_published {
using namespace test;
using test_opened_folder::loss_of_folder, test_opened_folder::near, test_opened_folder::Opened;

TEST_CASE("published run: looking inside says what the run's own step says, and changes no bit") {
  for (const char* name : {"gpt2", "llama", "olmo2", "gemma2", "pythia"}) {
    INFO(name);
    Opened opened(name);
    const auto seen = opened.run(), alone = opened.run();
    const auto inside = look_inside(*seen, "", true);
    seen->step();
    alone->step();
    CHECK(seen->losses() == alone->losses());
    CHECK(near(inside->found.loss, static_cast<double>(alone->losses()[0])));
    CHECK(inside->found.tokens == std::vector<int32_t>{5, 17, 3, 5, 9, 4, 8});
    CHECK(inside->words.at(17) == "17");
    CHECK(inside->step == 0);
    const auto other = look_inside(*seen, "5 5 5", false);
    CHECK(other->found.tokens.size() == 3);
    CHECK(other->step == 1);
    CHECK(contains(error_of([&] { look_inside(*seen, "5", false); }), "1 tokens: expected 2 to "));
    CHECK(contains(error_of([&] { look_inside(*seen, "dog", false); }), "is no number of a token"));
  }
}

TEST_CASE("published run: an encoder is asked for each token where it stands, and learns hidden ones") {
  for (const char* name : {"bert", "roberta"}) {
    Opened opened(name);
    const auto run = opened.run();
    const auto inside = look_inside(*run, "", false);
    CHECK(inside->found.targets == inside->found.tokens);
    CHECK(near(inside->found.loss, loss_of_folder(name, inside->found.tokens)));
    for (int i = 0; i < 5; ++i) run->step();
    CHECK(run->state() != RunState::NonFinite);
  }
}

}  // namespace normscope::test_inside_published
