// The stages of the Inside screen (tests/app/screens/stages.h).
#include "app/screens/stages.h"
#include "addons/inside/tests/app/inside_driver.h"

namespace normscope::test_screens {

void add_inside_stages(std::vector<Stage>& all) {
  const auto add_told = [&](const char* name, std::initializer_list<const char*> models) {
    all.push_back({.name = name,
                   .make =
                       [models = std::vector(models)] {
                         return std::make_unique<fixture::InsideDriver>(fixture::models(models));
                       },
                   .told = true});
  };
  add_told("Inside of one model", {"gpt2"});
  add_told("Inside of three models", {"gpt2", "olmo2", "llama"});
  all.push_back({"Inside of two models",
                 [] {
                   auto window = std::make_unique<fixture::InsideDriver>(fixture::models({"gpt2", "olmo2"}));
                   window->driver.click("inside/run/B");
                   window->rest();
                   return window;
                 },
                 "inside/tab/", true, Screen::Inside, Keys::EveryLayout});
  all.push_back({"Inside of a run that reads letters",
                 [] { return std::make_unique<fixture::InsideDriver>(fixture::small_runs()); }, "inside/tab/",
                 true, Screen::Inside});
}

}  // namespace normscope::test_screens
