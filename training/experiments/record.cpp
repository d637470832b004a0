#include "training/experiments/record.h"

#include <cmath>
#include <string_view>

#include "training/experiments/result_store.h"
#include "training/spec/limits.h"

namespace normscope::experiments {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kVerdicts[] = {"learns", "stuck", "diverges", "not finite", "undecided", "failed"};

}  // namespace

const char* to_string(Verdict verdict) { return kVerdicts[static_cast<size_t>(verdict)].data(); }

Json to_table_json(const Record& r) {
  Json json = {{"verdict", to_string(r.verdict)},
               {"steps", r.steps},
               {"since", r.since},
               {"loss", number_json(r.loss)},
               {"unigram", number_json(r.level)},
               {"beta2", number_json(r.beta2)},
               {"gradient_first", number_json(r.gradient_first)},
               {"gradient_last", number_json(r.gradient_last)}};
  if (std::isfinite(r.score)) json["score"] = number_json(r.score);
  if (!r.what.empty()) json["what"] = r.what;
  if (!r.beta2_reason.empty()) json["beta2_reason"] = r.beta2_reason;
  return json;
}

Json to_json(const Record& r) {
  Json json = to_table_json(r);
  json["stride"] = r.stride;
  json["curve"] = list_json(r.curve);
  return json;
}

Record record_from(const InputValue& json) {
  constexpr size_t kLongest = 4096;
  Record r;
  r.verdict = static_cast<Verdict>(json.at("verdict").choice(kVerdicts));
  r.steps = json.at("steps").whole(0, kMostSteps);
  r.since = json.at("since").whole(-1, kMostSteps);
  r.loss = number_from(json.at("loss"));
  r.level = number_from(json.at("unigram"));
  r.beta2 = number_from(json.at("beta2"));
  r.gradient_first = number_from(json.at("gradient_first"));
  r.gradient_last = number_from(json.at("gradient_last"));
  if (const auto score = json.find("score")) r.score = number_from(*score);
  if (const auto what = json.find("what")) r.what = what->text(kLongest);
  if (const auto reason = json.find("beta2_reason")) r.beta2_reason = reason->text(kLongest);
  r.stride = json.at("stride").whole(1, kMostSteps);
  for (const InputValue& loss : json.at("curve").list(0, Record::kCurve))
    r.curve.push_back(number_from(loss));
  return r;
}

}  // namespace normscope::experiments
