// Holds the table of numbers to what runs measure: every number of a run's history has a row, and every row is measured.
#include <algorithm>
#include <set>

#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "test_paths.h"
#include "training/measure/numbers.h"
#include "training/run/run.h"
#include "training/support/tiny.h"

using namespace normscope;

namespace {

using Fields = std::vector<std::pair<std::string_view, std::string_view>>;

/// Adds the names in the history of a tiny run; false where the settings do not go together.
bool add_measured(const Fields& fields, std::set<std::string>& names) {
  RunSpec spec = test::tiny_spec("post", 2);
  try {
    for (const auto& [key, value] : fields) set_field(spec, key, value);
    complete(spec);
    validate(spec);
  } catch (const Error&) {
    return false;
  }
  const auto backend = make_cpu_backend(1);
  Run run(spec, make_task(spec.data), *backend);
  for (const StatInfo& stat : run.history()->layout()) names.insert(stat.name);
  return true;
}

}  // namespace

TEST_CASE("every number that a run measures has a row, and every row is measured by some run") {
  std::vector<Fields> all{{{"model.architecture", "encoder-decoder"}, {"data.name", "copy"}},
                          {{"train.critical_every", "1"}}};
  if (find_field("train.qk_clip")) all.push_back({{"train.qk_clip", "1"}});
  for (const char* key : {"model.placement", "model.architecture", "train.optimizer"})
    for (const std::string_view choice : find_field(key)->choices) all.push_back({{key, choice}});
  std::set<std::string> names;
  CHECK(std::ranges::count_if(all, [&](const Fields& fields) { return add_measured(fields, names); }) > 20);
  std::set<const Number*> seen;
  for (const std::string& name : names) {
    INFO(name);
    const Number* row = number_of(name);
    CHECK(row);
    seen.insert(row);
  }
  const std::set<std::string_view> dense{"rate", "validation"},
      of_addons{"read.N", "stream.N.gradient_square", "factor"};
  for (const Number* row : numbers()) {
    INFO(row->name);
    const bool elsewhere = row->over || dense.contains(row->name);
    CHECK((seen.contains(row) || elsewhere || (!NORMSCOPE_EVERY_ADDON && of_addons.contains(row->name))));
  }
}

TEST_CASE("no two numbers share a name, a label, a field of a log or a plot's id") {
  std::set<std::string> names;
  for (const Number* row : numbers()) {
    INFO(row->name);
    CHECK(names.insert(row->name).second);
    CHECK(names.insert(std::string("label ") + row->label).second);
    CHECK((!row->field || log_field(row->field) == row));
    CHECK((!row->id || names.insert(std::string("plot ") + row->id).second));
    CHECK((*row->help && *data_of(row->by) && *defined_in(row->by)));
    CHECK(known_number(example_of(*row)) == row);
  }
  CHECK_FALSE(log_field("loss"));
}

TEST_CASE("a name that a person writes is known where a transformer has its place") {
  for (const char* name :
       {"L01.ffn.w2.grad_norm", "enc.L12.cross.wo.weight_norm", "L*.ffn.wg.update_norm",
        "L01.ffn.sum.mean_square", "total.grad_norm", "emb.tokens.grad_norm", "dec.beta2.3.1",
        "L01.attn.head.2.logit", "dec.readout.sight", "critical_rate", "critical.rate"}) {
    INFO(name);
    CHECK(known_number(name));
  }
  for (const char* name :
       {"L02.attn.w1.grad_norm", "L01.ffn.branch.mean_square", "enc.total.grad_norm", "L1.spike_ratio",
        "L01.attn.spike_ratio", "L01.ffn.attention_entropy", "L01.attn.logit", "readout.hearing",
        "L00.ffn.w2.grad_norm", "L01.ffn..grad_norm", ""}) {
    INFO(name);
    CHECK_FALSE(known_number(name));
  }
  CHECK(stat_of("rate / critical_rate") == "rate / critical.rate");
  CHECK(stat_of("L01.ffn.w2.update_ratio") == "L01.ffn.w2.update_norm / L01.ffn.w2.weight_norm");
}

TEST_CASE("what is no number is met with the nearest, by name and by label") {
  const std::string_view words[] = {"loss", "excess"};
  const auto guess = [&](const char* word, bool by_layer) {
    const std::string said = expected_number(word, words, by_layer);
    return said.substr(0, said.find('?'));
  };
  CHECK(guess("los", false) == "did you mean loss");
  CHECK(guess("L03.ffn.w1.gradnorm", false) == "did you mean L03.ffn.w1.grad_norm");
  CHECK(guess("L03.attn.token cosine", false) == "did you mean L03.attn.token_cosine, the token cosine");
  CHECK(expected_number("colour", words, false).starts_with("expected loss, excess, a probe as L01.ffn"));
  for (const Number* row : numbers()) {
    INFO(row->label);
    if (!row->head && std::string_view(row->name).find('N') == std::string_view::npos)
      CHECK(guess(row->label, row->of != Number::Of::Run).find(row->name) != std::string::npos);
  }
}
