// Requests to runs that are held, a line each: whatever they ask, each gets one answer, and what is refused changes
// nothing. What would build another network, or write a file, is left out.
#include "addons/recorded/app/held_runs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/cpu/backend_cpu.h"
#include "fuzz.h"

using namespace normscope;
using nlohmann::json;

namespace {

constexpr int kMostSteps = 3, kMostRequests = 12;

constexpr const char* kOpen =
    R"({"id":0,"do":"open","runs":["A=post"],"set":["data.name=copy","model.layers=1","model.d_model=8",)"
    R"("model.heads=1","train.batch=2"],"steps":4})";

/// Whether an answer to the request takes no more than some steps of the small network.
bool is_small(std::string_view request) {
  for (const std::string_view left_out : {"open", "load", "save", "\\u", "train.batch"})
    if (request.find(left_out) != request.npos) return false;
  for (size_t at = 0; (at = request.find("model.", at)) != request.npos; ++at)  // the others set a size
    if (!request.substr(at).starts_with("model.placement=")) return false;
  return true;
}

struct Held {
  int asked = 0;
  held::HeldRuns runs{make_cpu_backend(1), {[](const std::string&) {}, [this] { return ++asked > kMostSteps; }}};

  std::string answer(std::string_view request) {
    asked = 0;
    std::string line = runs.answer(request);
    fuzz::require(line.find('\n') == line.npos, "an answer is one line");
    return line;
  }
  /// What all of them say of themselves.
  std::string all() {
    std::string said;
    for (int run = 1; run <= kMostRequests + 1; ++run) {
      const std::string which = R"({"id":1,"run":)" + std::to_string(run);
      said += answer(which + R"(,"do":"state"})") + answer(which + R"(,"do":"losses"})");
    }
    return said;
  }
};

}  // namespace

FUZZ_TARGET(hold) {
  Held held;
  fuzz::require(!json::parse(held.answer(kOpen)).contains("error"), "the run of these requests opens");
  for (int i = 0; i < kMostRequests && !input.empty(); ++i) {
    const std::string_view request = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(request.size() + 1, input.size()));
    if (!is_small(request) || !fuzz::shallow(request)) continue;
    const std::string before = held.all();
    const json answer = json::parse(held.answer(request));
    if (answer.contains("error")) fuzz::require(held.all() == before, "a request that is refused changes a run");
  }
}
