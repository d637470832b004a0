// What is measured of a run at its steps, once: the name of each number, its words, the data that it is measured on, and
// where it is defined. Logs, plots, lessons, claims, studies and `normscope numbers` read this table. A number's name in
// a history is a place and a row's name: "dec.L03.ffn.w2.grad_norm" is the grad_norm of "dec.L03.ffn.w2".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"

namespace normscope {

/// Where a number is measured: "dec.L03.attn.head.2".
struct NumberPlace {
  static constexpr int32_t kEvery = -1;
  std::string_view stack;   ///< "", "enc.", "dec."
  int32_t layer = 0;        ///< 0: of no layer; kEvery: "L*", each of them
  std::string_view rest{};  ///< "attn.head.2"
};
NumberPlace place_of(std::string_view name);
/// Puts a layer's number in place of "L*".
std::string of_layer(std::string name, int32_t layer);

/// What every number has.
struct NumberBase {
  /// The place that stands before its name.
  enum class Of : uint8_t {
    Run,          ///< none
    Shares,       ///< none, or a stack: "dec.beta2.3.1"
    Parameter,    ///< "L03.attn.wq", "emb.tokens"
    Group,        ///< "L03", "emb": all parameters of a layer
    State,        ///< "L03.ffn.out", what a sub-layer adds, and "L03.ffn.sum"
    Sublayer,     ///< "L03.ffn"
    FeedForward,  ///< "L03.ffn"
    Reader,       ///< "L03.ffn", "readout"
    Attention,    ///< "L03.attn", "L03.cross"
    Head          ///< "L03.attn.head.2"
  };
  /// What measures it: see data_of() and defined_in().
  enum class By : uint8_t { Run, Step, Sequence, Tokens, Updates, CriticalRate, Validation };
  /// Where the results of studies keep it (experiments/run_numbers.h); each has what the ones before have.
  enum class Kept : uint8_t { Nowhere, AtTheEnd, AtMoments, AtSteps };

  const char* name;  ///< "token_cosine"; N and M stand for numbers: "beta2.N.M"
  Of of;
  By by;
  Kept kept;
  const char* label;  ///< in words: "token cosine"
  const char* help;   ///< one sentence or two
};

/// What only some have.
struct NumberMore {
  const char* stat = nullptr;    ///< its name in a history, where that is another one
  const char* over = nullptr;    ///< of a quotient the divisor's name
  const char* head = nullptr;    ///< the name of the same number of a head: "entropy"
  const char* field = nullptr;   ///< its key in a log (docs/log-format.md)
  const char* missed = nullptr;  ///< its name where a log lacks it; null: nothing is said
  const char* unit = "";
};

/// What the Lab's plots say of it.
struct NumberPlot {
  const char* id = nullptr;    ///< names its controls and files: "token-cosine"; null: it is in no plot
  bool log = false;            ///< logarithmic axis
  const char* by_layer = "";   ///< title of the plot by layer
  const char* over_time = "";  ///< title of the plot over time
  const char* question = "";   ///< the same in plain words, after either title
  const char* brief = "";      ///< the question in fewer words, for a narrow title row
  const char* note = "";       ///< after the question, and in the selector
  const char* axis = "";       ///< in words, for exports
  const char* term = nullptr;  ///< entry of the glossary; null: the id
};

struct Number : NumberBase, NumberMore, NumberPlot {
  constexpr Number(NumberBase base, NumberMore more = {}, NumberPlot plot = {})
      : NumberBase(base), NumberMore(more), NumberPlot(plot) {}
  const char* path() const { return stat ? stat : name; }  ///< what follows the place in a history
  bool of_matrix() const { return of == Of::Parameter; }   ///< a plot lets the user choose the matrix
};
const char* data_of(Number::By by);     ///< "one fixed sequence"
const char* defined_in(Number::By by);  ///< "training/measure/step_metrics.h"

/// The format of a log; its fields that hold numbers by tensor are the rows with a `field`, see suffix_in_log().
inline constexpr const char* kLogFormat = "normscope log 2";
/// The row of a field of a log; null for a key that is none.
const Number* log_field(std::string_view key);
/// What a log leaves out of a name that its field says: ".grad_norm"; ".logit" of a single head, "L03.attn.head.2".
std::string suffix_in_log(const Number& field, bool of_head);

/// All rows: the core's, then NUMBER(a constant) of numbers.def, which an add-on brings.
std::span<const Number* const> numbers();

// Rows that code asks for.
extern const Number &kGradNorm, &kUpdateRatio, &kSpikeRatio, &kUpdateCosine, &kMeanSquare, &kBranchVariance,
    &kInputVariance, &kTokenCosine, &kLayerCosine, &kSight, &kHearing, &kTelling, &kIdentity,
    &kAttentionEntropy, &kLargestLogit, &kFirstMass, &kOwnShare, &kLongest, &kTokenShare;

/// The row of a name in a history, "L01.attn.head.2.logit", or of one that a person writes, "L*.ffn.token_cosine" or
/// "critical_rate". Null where nothing measures such a number.
const Number* number_of(std::string_view name);
/// The same, but null also for a place that no transformer has, such as "L01.ffn.wx".
const Number* known_number(std::string_view name);
/// A whole name: "L01.ffn.w2.grad_norm", "L*.ffn.w2.grad_norm".
std::string example_of(const NumberBase& row, bool by_layer = false);
/// The name in a history of a name that a person wrote: "critical.rate", "L01.ffn.w2.update_norm / L01.ffn.w2.weight_norm".
std::string stat_of(const std::string& name);
/// Where results keep a number of this name.
Number::Kept kept_of(std::string_view name);

/// After "'cosine' is not measured there: ": the nearest name, by name or by label, and what was expected. `words`: what
/// the reader knows besides the numbers of the table. `by_layer`: it asks for a number of every layer.
Message expected_number(std::string_view word, std::span<const std::string_view> words, bool by_layer);

}  // namespace normscope
