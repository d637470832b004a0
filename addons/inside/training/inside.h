// A transformer while it reads one text: the length of each token's state after each sub-layer and the branches that
// contributed to it, the loss without a sub-layer, the targets of attention, and the guess of each
// layer. It reads the weights of a Store as they are and changes no bit of a run. The Inside screen, the Lab and
// `normscope inspect` show it.
#pragma once

#include "training/measure/look.h"
#include "training/run/evaluate.h"
#include "training/session/analysis.h"
#include "training/session/lab.h"

namespace normscope {

/// Whether any token of the text has a target; for a model without an output head none has.
bool has_targets(const Batch& text);

/// What to measure in addition to loss, stream and shares, which take one forward pass.
struct InsideQuestion {
  bool gradients = true;  ///< a backward pass
  bool attention = true;  ///< probabilities by head
  int32_t guesses = 5;    ///< of the logit lens, by layer and token; 0: no lens
  int32_t changes = 0;  ///< of the backward lens, by sub-layer and token, in both directions; needs gradients
  bool left_out = false;   ///< a forward pass for each sub-layer and layer
  bool heads_out = false;  ///< a forward pass for each head
  bool states = false;     ///< the states and logits themselves
  Draws draws{};           ///< of the next token
};

struct Inside {
  /// The stream's state after a sub-layer.
  struct Sublayer {
    std::string name;  ///< "L03.attn"
    int32_t layer = 0;
    std::vector<float> norms;      ///< |x| of each token's state after it, by token
    std::vector<float> gradients;  ///< |d loss / dx| of the same; empty: not requested
    double branch_variance = 0, input_variance = 0;
    std::vector<double>
        shares;  ///< beta2.I.J (measure/step_metrics.h), J = 0 (embedding) to I (its own branch)
    std::vector<float> token_shares;      ///< the same of each token's state alone, (J, token)
    std::vector<float> attribution;       ///< by token: see LogitAttribution
    std::vector<float> state;             ///< (T,D), where states were requested
    double longest = 0, token_share = 0;  ///< measure/step_metrics.h
    double token_cosine = 0, layer_cosine = 0;
    float share(size_t component, size_t token) const {
      return token_shares[component * norms.size() + token];
    }
  };
  /// The probabilities of a sub-layer, (heads, T, T) row-major: head, query, key.
  struct Attention {
    std::string name;
    int32_t layer = 0, heads = 0;
    /// (heads, T, T), shared by copies: for 300 tokens of 30 layers they are 90 MB.
    std::shared_ptr<const std::vector<float>> probabilities;
    std::vector<double> entropy;            ///< nats, of each head: mean over the queries of -sum p ln p
    std::vector<double> logit, first_mass;  ///< of each head: measure/step_metrics.h
    /// The probabilities as small pictures, (heads, side, side): each number is the largest of a block.
    std::vector<float> small;
    size_t side = 0;
    std::vector<float> attribution;  ///< (heads, T); empty where the branch is no sum over heads
  };
  /// Direct logit attribution: the logit of one symbol a token, above the mean of all symbols' logits and before a
  /// scale and a cap of them, as a sum over the embedding and the branches. The statistics of norms count as
  /// constants, so that each branch has a part of its own; the rest comes from biases. It says nothing of a branch's
  /// effect through later ones. All are empty where a state does not reach the logits by norms alone.
  struct LogitAttribution {
    std::vector<int32_t> symbol;  ///< by token: its target, or the model's guess
    std::vector<float> logit, embedding;
  };
  struct Guess {
    int32_t token = 0;
    float probability = 0;
  };
  /// The model's guesses if the output layer read this layer's state (the logit lens, nostalgebraist 2020).
  struct Lens {
    std::string name;  ///< "L03"; "embedding" before the first
    int32_t layer = 0;
    double loss = 0;             ///< nats a target
    std::vector<Guess> guesses;  ///< (T, guesses), the most probable first
    std::vector<float> right;    ///< by token: the probability of its target; NaN where it has none
  };
  struct Change {
    int32_t token = -1;                                    ///< -1: none, as the gradient is zero
    float nats = std::numeric_limits<float>::quiet_NaN();  ///< of the logarithm of its probability
  };
  /// The gradients of a sub-layer as symbols (the Backward Lens, Katz et al. 2024, arXiv 2402.12865). Let W be its last
  /// matrix, x_t what W reads at token t, and d_t the gradient of the loss at x_t W. Then dL/dW is the sum of x_t' d_t
  /// over the tokens, and a step of gradient descent moves x_t W along
  ///   w_t  =  - sum over s of (x_t x_s) d_s
  /// while the token's own gradient asks for -d_t. As the logit lens does, this one lets the end of the model, E, read
  /// the state y_t right after the sub-layer, which a change v_t of x_t W moves by J v_t (LiveMeasurements::carry_branch):
  ///   change of a symbol  =  half of  log softmax(E(y_t + u_t)) - log softmax(E(y_t - u_t))
  ///   u_t  =  J v_t |y_t| / (100 |J v_t|)
  /// So the last norm is linear, at y_t, and not applied to the gradient as if that were a state. Later sub-layers do not
  /// answer, later norms on the stream are left out, and the matrix alone is moved.
  struct BackwardLens {
    std::string name;  ///< "L03.ffn"
    int32_t layer = 0;
    std::vector<Change> asked{};  ///< (T, changes): what -d_t raises most, the largest change first
    std::vector<Change> raised{}, lowered{};  ///< the same of w_t
  };
  struct Gradient {
    std::string name;  ///< of a matrix: "L03.attn.wq"
    int32_t layer = 0;
    double norm = 0;
  };
  struct LeftOut {
    std::string name;  ///< "L03.attn", "L03", "L03.attn.head.2"
    int32_t layer = 0;
    double loss = 0;   ///< nats a target, with it left out
    int32_t head = 0;  ///< from 1; 0: no head
  };
  std::vector<int32_t> tokens, targets;  ///< a target of -1 counts for nothing
  double loss = 0;                       ///< nats a target
  std::vector<float> token_loss;         ///< by token; NaN where it has no target
  int32_t next = 0;                      ///< a decoder's next token, as InsideQuestion::draws chooses it
  std::vector<float> embedding;          ///< |x| of each token before the first layer
  std::vector<float> embedding_gradients;
  std::vector<float> embedding_state;  ///< (T,D), where states were requested
  std::vector<float> logits;           ///< (T,V), where states were requested and a token has a target
  LogitAttribution attributed;
  std::vector<Sublayer> sublayers;  ///< in the order of the model
  std::vector<Attention> attention;
  std::vector<Lens> lens;
  std::vector<BackwardLens> backward_lens;  ///< empty for models with more than one stream
  std::vector<Gradient> gradients;
  std::vector<LeftOut> left_out;
};

/// The token with the longest state relative to the median, the sub-layer after which it has it, and that ratio. From
/// kDominates on, shares and variances over all tokens describe mostly this token.
struct Dominant {
  size_t sublayer = 0, token = 0;
  double times = 0;
};
/// Nothing where no token dominates.
std::optional<Dominant> dominant_of(const Inside& inside);
/// At how many tokens the first of the changes is the right symbol.
size_t right_of(const Inside& inside, std::span<const Inside::Change> changes);
/// The median over the tokens where one dominates, otherwise beta2.I.I over all.
double own_share(const Inside::Sublayer& sublayer, bool dominated);

/// Fills in `attributed`, of a symbol for each token, and the parts of sub-layers and heads, after a replay of `look`.
void attribute_logits(Look& look, const Store& store, const ModelConfig& model, std::vector<int32_t> symbols,
                      Inside& inside);

/// A head's probabilities, (tokens, tokens), with at most `most` rows and columns: a cell is the largest number of a
/// block.
struct SmallPicture {
  size_t side = 0;
  std::vector<float> cells = {};
};
SmallPicture small_picture(const float* of_head, size_t tokens, size_t most);

/// The state after a layer, (T,D) row-major; before the first layer, the embedding.
struct LayerState {
  std::string name;  ///< "L03", "embedding"
  int32_t layer = 0;
  std::vector<float> state;
  std::vector<float> second;  ///< ResiDual's second stream; empty without one
};

/// A state, the direction in which its own gradient asks to move, and the one in which a step moves it, (T,D).
struct MovingState : LayerState {
  std::vector<float> asked, written;
};

/// Measures one text part by part, quick answers before measurements of many passes: the look at all
/// states, a lens for each layer, a backward lens for each sub-layer, then the losses with something left out.
class InsideWork {
 public:
  /// A batch of one row of a decoder or an encoder. Throws Error for any other model.
  InsideWork(Store& store, const ModelConfig& model, Batch text, const InsideQuestion& asked);
  /// Measures one part; false where there is none left.
  bool next();
  size_t done() const { return done_; }
  /// Whether only the losses with something left out remain.
  bool quick_done() const { return done_ > states_.size() + moving_.size(); }
  /// Whether the loss without the first head of a sub-layer is next.
  bool heads_next() const { return quick_done() && !leave_.empty() && leave_.back().head == 1; }
  size_t parts() const;
  const Inside& found() const& { return inside_; }
  Inside found() && { return std::move(inside_); }

 private:
  void look();

  Store& store_;
  ModelConfig model_;
  Batch text_;
  InsideQuestion asked_;
  size_t done_ = 0;
  std::vector<LayerState> states_;      ///< read by the lenses
  std::vector<MovingState> moving_;     ///< read by the backward lenses
  std::vector<Inside::LeftOut> leave_;  ///< still to be left out, the last first
  Inside inside_;
};

/// Measures all parts at once.
Inside inside_of(Store& store, const ModelConfig& model, const Batch& text, const InsideQuestion& asked);

/// The text with `count` more symbols, each drawn by its place in the text. Throws Error for an encoder.
std::vector<int32_t> continued(Store& store, const ModelConfig& model, std::vector<int32_t> text,
                               int32_t count, const Draws& draws = {});

// The logit lens: a model's guess if its output layer read the state of an earlier layer.

/// The logits of a program's last replay, read row by row: those of a long text take more memory than its states.
class Logits {
 public:
  explicit Logits(const Program& program);
  /// The logits of one token; valid until the next call.
  std::span<const float> row(size_t token);
  float log_sum(size_t token) const { return log_sums_[token]; }
  /// The loss of each token, in nats; NaN where there is no target.
  std::vector<float> losses(std::span<const int32_t> targets) const;

 private:
  const Program& program_;
  ValueId logits_;
  std::vector<float> row_, log_sums_;
};

/// Runs the end of the model, from the last layer's output on, on a state. A lens has fewer guesses where the model
/// has fewer symbols.
Inside::Lens lens_of(Store& store, const ModelConfig& model, const Batch& text, const LayerState& state,
                     int32_t guesses);
Inside::BackwardLens backward_lens_of(Store& store, const ModelConfig& model, const MovingState& state,
                                      int32_t changes);

// The measurements above for a run's model at one step, with the text of each token.

/// The most tokens of a text that is looked at: pictures by token show no more.
inline constexpr size_t kMaxInside = 320;
inline size_t most_inside(const ModelConfig& model) {
  return std::min(kMaxInside, static_cast<size_t>(model.sequence));
}

struct RunInside : InquiryResult {
  int32_t step = 0;
  std::string text;  ///< the requested text; empty: the row that the run is measured on before every step
  bool left_out = false;  ///< whether the losses without each part were requested
  Draws draws{};          ///< of the next token
  bool whole = true;      ///< all requested measurements are finished
  Inside found;
  std::optional<int32_t> spectra_of;   ///< the layer whose next update was decomposed; 0: outside the layers
  std::vector<MatrixSpectra> spectra;  ///< of its matrices
  std::map<int32_t, std::string> words;  ///< of every token of the text and of every guess
};

/// A request to a run. Without a text it takes the row that the run is measured on. `left_out`: with the loss without
/// each of its parts, a forward pass for each. `spectra_of`: with the singular values of the next update of this
/// layer's matrices.
struct InsideRequest {
  int32_t run = 0;
  std::string text{};
  bool left_out = false;
  int32_t step = -1;  ///< the state after this step; -1: the present state
  std::optional<int32_t> spectra_of{};
  bool backward_lens = false;
  Draws draws{};  ///< of the next token
  bool operator==(const InsideRequest&) const = default;
};

class InsideLook : public Inquiry {
 public:
  /// The constructor throws Error for a text that the run's data cannot spell, of fewer than two tokens or too many,
  /// and for a model that is not a decoder or encoder that writes symbols. `then` owns `run` if it is a copy.
  InsideLook(Run& run, std::unique_ptr<Run> then, const InsideRequest& asked);
  bool next() override;
  size_t done() const override {
    return size_t{told_} + work_->done() + size_t{found_.spectra_of.has_value()};
  }
  size_t parts() const override { return 1 + work_->parts() + size_t{spectra_of_.has_value()}; }
  /// True after the tokens of the text, with which it begins, the look itself, the lenses, the spectra, the losses without a sub-layer, and each sub-layer's heads.
  bool worth_showing() const override;
  bool holds() const override { return found_.step == run_->steps_done(); }
  std::shared_ptr<const RunInside> found() const;
  std::shared_ptr<const InquiryResult> result() const override { return found(); }

 private:
  std::unique_ptr<Run> then_;
  Run* run_;
  std::optional<int32_t> spectra_of_;
  std::optional<InsideWork> work_;
  bool told_ = false;  ///< the tokens
  RunInside found_;
};

session::Inquire look_command(const InsideRequest& asked);
/// The result of the newest look at a run of the Lab; null: there is none yet.
const RunInside* inside_of(const RunView& run);

}  // namespace normscope
