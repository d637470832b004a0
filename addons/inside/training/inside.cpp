#include "addons/inside/training/inside.h"

#include <algorithm>

#include "addons/published/training/passage.h"
#include "addons/published/training/token_task.h"
#include "engine/tape/seal.h"

namespace normscope {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Adds up in double precision.
double norm_of(std::span<const float> row) {
  double square = 0;
  for (const float x : row) square += static_cast<double>(x) * x;
  return std::sqrt(square);
}

/// "L03" of the sub-layer "L03.attn".
template <typename Sublayer>
std::string layer_of(const Sublayer& s) {
  return s.name.substr(0, s.name.find('.'));
}

/// |x| of each token.
std::vector<float> row_norms(const std::vector<float>& states, size_t width) {
  std::vector<float> norms;
  for (size_t at = 0; at < states.size(); at += width)
    norms.push_back(static_cast<float>(norm_of(std::span(states).subspan(at, width))));
  return norms;
}

class Numbers {
 public:
  explicit Numbers(Look& look) : layout_(look.layout()), numbers_(look.numbers()) {}
  double operator()(const std::string& name) const {
    const auto found = std::ranges::find(layout_, name, &StatInfo::name);
    return found == layout_.end() ? kUnknown : numbers_[static_cast<size_t>(found - layout_.begin())];
  }

 private:
  const std::vector<StatInfo>& layout_;
  std::vector<double> numbers_;
};

/// Fills in how strongly the loss depends on each token's state.
void take_state_gradients(const Look& look, Inside& inside, size_t width) {
  const auto norms = [&](ValueId state) { return row_norms(look.read_gradient(state), width); };
  inside.embedding_gradients = norms(look.values().embedding);
  for (const SublayerValues& s : look.values().sublayers)
    inside.sublayers.emplace_back().gradients = norms(s.output);
}

void take_stream(Look& look, const Numbers& number, Inside& inside, size_t width) {
  inside.sublayers.resize(look.values().sublayers.size());
  for (size_t i = 0; i < inside.sublayers.size(); ++i) {
    const SublayerValues& s = look.values().sublayers[i];
    Inside::Sublayer& row = inside.sublayers[i];
    row.name = s.name;
    row.layer = s.layer;
    row.norms = row_norms(look.read(s.output), width);
    row.branch_variance = number(s.name + ".branch.variance");
    row.input_variance = number(s.name + ".input.variance");
    row.token_cosine = number(s.name + ".token_cosine");
    row.layer_cosine = number(s.name + ".layer_cosine");
    for (size_t j = 0; j <= i + 1; ++j) row.shares.push_back(number(fmt::format("beta2.{}.{}", i + 1, j)));
    row.longest = number(s.name + ".longest");
    row.token_share = number(s.name + ".token_share");
    row.token_shares = look.token_shares()[i];
  }
}

std::vector<Inside::Gradient> gradients_of(const Look& look, const Store& store) {
  std::vector<Inside::Gradient> gradients;
  for (const ParameterInfo& p : store.parameters())
    if (p.trainable && p.shape.rank == 2) gradients.push_back({p.name, p.layer, look.gradient_norm(p.name)});
  return gradients;
}

constexpr size_t kMaxSide = 16;  ///< of a small picture

void make_small(Inside::Attention& attention, size_t tokens) {
  for (size_t at = 0; at < attention.probabilities->size(); at += tokens * tokens) {
    const SmallPicture of_head = small_picture(&(*attention.probabilities)[at], tokens, kMaxSide);
    attention.side = of_head.side;
    attention.small.insert(attention.small.end(), of_head.cells.begin(), of_head.cells.end());
  }
}

/// Reads the probabilities; their entropy is over the first `queries`, which are not padding.
std::vector<Inside::Attention> attention_of(const Look& look, const Numbers& number, size_t queries) {
  std::vector<Inside::Attention> all;
  for (const SublayerValues& s : look.values().sublayers) {
    if (s.probabilities == kNone) continue;
    Inside::Attention& attention = all.emplace_back();
    attention.name = s.name;
    attention.layer = s.layer;
    attention.heads = static_cast<int32_t>(look.shape(s.probabilities)[1]);
    attention.probabilities = std::make_shared<const std::vector<float>>(look.read(s.probabilities));
    const size_t of_head = attention.probabilities->size() / static_cast<size_t>(attention.heads),
                 keys = static_cast<size_t>(look.shape(s.probabilities)[3]);
    for (size_t at = 0; at < attention.probabilities->size(); at += of_head) {
      double sum = 0;
      for (const float p : std::span(*attention.probabilities).subspan(at, queries * keys))
        if (p > 0) sum -= static_cast<double>(p) * std::log(static_cast<double>(p));
      attention.entropy.push_back(sum / static_cast<double>(queries));
    }
    make_small(attention, keys);
    for (int32_t h = 1; h <= attention.heads; ++h) {
      attention.logit.push_back(number(fmt::format("{}.head.{}.logit", s.name, h)));
      attention.first_mass.push_back(number(fmt::format("{}.head.{}.first_mass", s.name, h)));
    }
  }
  return all;
}

std::vector<LayerState> states_of(const Look& look) {
  const ModelValues& values = look.values();
  std::vector<LayerState> states;
  const auto add = [&](std::string name, int32_t layer, ValueId state, ValueId second) {
    states.push_back({std::move(name), layer, look.read(state),
                      second == kNone ? std::vector<float>() : look.read(second)});
  };
  const bool two = values.sublayers.front().second != kNone;
  add("embedding", 0, values.embedding, two ? values.embedding : kNone);
  for (size_t i = 0; i < values.sublayers.size(); ++i) {
    const SublayerValues& s = values.sublayers[i];
    const bool last = i + 1 == values.sublayers.size() || values.sublayers[i + 1].layer != s.layer;
    if (last) add(layer_of(s), s.layer, s.output, s.second);
  }
  return states;
}

/// The sum over tokens s of (x_t x_s) d_s, for each t.
std::vector<float> mixed(const std::vector<float>& x, const std::vector<float>& d, size_t tokens) {
  std::vector<float> sums(d.size());
  const size_t reads = x.size() / tokens, width = d.size() / tokens;
  for (size_t t = 0; t < tokens; ++t)
    for (size_t s = 0; s < tokens; ++s) {
      const double alike = cpu::dots(&x[t * reads], &x[s * reads], static_cast<int64_t>(reads)).ab;
      cpu::add_scaled(&d[s * width], static_cast<float>(alike), &sums[t * width],
                      static_cast<int64_t>(width));
    }
  return sums;
}

/// Nothing for a model with more than one stream, or with more than a norm between a last matrix and its branch.
std::vector<MovingState> moving_states_of(Look& look, size_t tokens) {
  std::vector<MovingState> states;
  for (const SublayerValues& s : look.values().sublayers) {
    const Node* product = look.last_product(s);
    if (s.second != kNone || !product) return {};
    MovingState moving{{s.name, s.layer, look.read(s.output), {}}, look.read_gradient(product->out), {}};
    for (float& x : moving.asked) x = -x;
    moving.written = mixed(look.read(product->in[0]), moving.asked, tokens);
    for (std::vector<float>* direction : {&moving.asked, &moving.written})
      if (!look.carry_branch(states.size(), product->out, *direction)) return {};
    states.push_back(std::move(moving));
  }
  return states;
}

/// Lists what can be left out: each sub-layer, each layer after its last sub-layer, then each head.
std::vector<Inside::LeftOut> left_out_of(const InsideQuestion& asked, const ModelConfig& model,
                                         const Store& store, const std::vector<Inside::Sublayer>& sublayers) {
  std::vector<Inside::LeftOut> all;
  for (size_t i = 0; i < sublayers.size() && asked.left_out; ++i) {
    all.push_back({sublayers[i].name, sublayers[i].layer});
    if (i + 1 == sublayers.size() || sublayers[i + 1].layer != sublayers[i].layer)
      all.push_back({layer_of(sublayers[i]), sublayers[i].layer});
  }
  for (const Inside::Sublayer& s : sublayers)
    for (int32_t h = 1; asked.heads_out && store.find(s.name + ".wo") >= 0 && h <= model.heads; ++h)
      all.push_back({fmt::format("{}.head.{}", s.name, h), s.layer, 0, h});
  return all;
}

/// While this object lives, a head's rows of the output matrix are zero.
class WithoutHead {
 public:
  WithoutHead(Store& store, const ModelConfig& model, const Inside::LeftOut& left) : store_(store) {
    if (left.head == 0) return;
    parameter_ = store.find(left.name.substr(0, left.name.find(".head.")) + ".wo");
    values_ = store.read(parameter_);
    std::vector<float> without = values_;
    const size_t of_head = values_.size() / static_cast<size_t>(model.heads);
    std::fill_n(without.begin() + static_cast<std::ptrdiff_t>(of_head * static_cast<size_t>(left.head - 1)),
                of_head, 0.0f);
    store.write(parameter_, without);
  }
  WithoutHead(const WithoutHead&) = delete;
  WithoutHead& operator=(const WithoutHead&) = delete;
  ~WithoutHead() {
    if (parameter_ >= 0) store_.write(parameter_, values_);
  }

 private:
  Store& store_;
  int32_t parameter_ = -1;
  std::vector<float> values_;
};

double loss_without(Store& store, const ModelConfig& model, const Batch& text, const Inside::LeftOut& left) {
  const WithoutHead head(store, model, left);
  Program program = evaluation_program(store, model, shape_of(text),
                                       left.head > 0 ? std::vector<std::string>() : std::vector{left.name});
  put(text, program);
  program.replay({});
  return program.loss();
}

const ValueInfo& info(const Program& program, ValueId value) {
  return program.data().values[static_cast<size_t>(value)];
}

/// The indices of the largest numbers of a row, largest first; equal ones in their order.
std::vector<int32_t> largest(std::span<const float> row, size_t count) {
  std::vector<int32_t> best;
  const auto before = [&](float number, int32_t other) { return number > row[static_cast<size_t>(other)]; };
  for (size_t v = 0; v < row.size(); ++v) {
    if (best.size() == count && !before(row[v], best.back())) continue;
    if (best.size() == count) best.pop_back();
    best.insert(std::upper_bound(best.begin(), best.end(), row[v], before), static_cast<int32_t>(v));
  }
  return best;
}

/// The text in the symbols of the run's data.
std::vector<int32_t> tokens_of(const Run& run, const std::string& text) {
  const RunSpec& spec = run.spec();
  if (!text.empty()) return run.task().encode(text);
  if (spec.data.name == "passage") return run.task().encode(passage_of(spec.data));
  return measured_row(run.task(), spec.model.sequence).tokens;
}

}  // namespace

bool has_targets(const Batch& text) {
  return std::ranges::any_of(text.targets, [](int32_t target) { return target >= 0; });
}

SmallPicture small_picture(const float* of_head, size_t tokens, size_t most) {
  const size_t block = (tokens + most - 1) / most;
  SmallPicture small{.side = (tokens + block - 1) / block};
  small.cells.resize(small.side * small.side);
  for (size_t q = 0; q < tokens; ++q)
    for (size_t k = 0; k < tokens; ++k) {
      float& cell = small.cells[q / block * small.side + k / block];
      cell = std::max(cell, of_head[q * tokens + k]);
    }
  return small;
}

std::optional<Dominant> dominant_of(const Inside& inside) {
  Dominant most;
  for (size_t i = 0; i < inside.sublayers.size(); ++i) {
    const Inside::Sublayer& s = inside.sublayers[i];
    if (!(s.longest > most.times)) continue;
    most = {i, static_cast<size_t>(std::ranges::max_element(s.norms) - s.norms.begin()), s.longest};
  }
  return most.times >= kDominates ? std::optional(most) : std::nullopt;
}

size_t right_of(const Inside& inside, std::span<const Inside::Change> changes) {
  size_t right = 0;
  for (size_t t = 0; t < inside.targets.size(); ++t)
    right += inside.targets[t] >= 0 &&
             changes[t * changes.size() / inside.targets.size()].token == inside.targets[t];
  return right;
}

double own_share(const Inside::Sublayer& sublayer, bool dominated) {
  return dominated ? sublayer.token_share : sublayer.shares.back();
}

InsideWork::InsideWork(Store& store, const ModelConfig& model, Batch text, const InsideQuestion& asked)
    : store_(store), model_(model), text_(std::move(text)), asked_(asked) {
  require_stack(model);
  if (text_.B != 1) fail("inside", "{} texts were given: expected one", text_.B);
  require_tokens(model, text_.tokens);
  inside_.tokens = text_.tokens;
  inside_.targets = text_.targets;
}

size_t InsideWork::parts() const {
  if (done_ == 0) return 1;
  return 1 + states_.size() + moving_.size() + inside_.left_out.size() + leave_.size();
}

/// One pass over the text, for everything except the lenses and the losses without a part.
void InsideWork::look() {
  const auto width = static_cast<size_t>(model_.d_model);
  Look look(store_, model_, shape_of(text_),
            !asked_.gradients    ? Look::Gradients::None
            : asked_.changes > 0 ? Look::Gradients::Products
                                 : Look::Gradients::Norms,
            asked_.attention);
  look.put(text_);
  look.replay();
  if (asked_.gradients) {  // first, as their memory serves what comes then
    if (asked_.changes > 0) moving_ = moving_states_of(look, text_.tokens.size());
    inside_.gradients = gradients_of(look, store_);
    take_state_gradients(look, inside_, width);
    look.drop_gradients();
  }
  look.keep_token_shares();
  const Numbers number(look);
  inside_.loss = look.program().loss();
  std::vector<int32_t> symbols;  // that logits are attributed of
  {
    Logits logits(look.program());
    inside_.token_loss = logits.losses(text_.targets);
    for (size_t t = 0; t < text_.targets.size(); ++t)
      symbols.push_back(text_.targets[t] >= 0 ? text_.targets[t] : place_of_largest(logits.row(t)));
    if (model_.architecture == Architecture::Decoder)
      inside_.next = drawn_symbol(logits.row(text_.tokens.size() - 1), asked_.draws, text_.tokens.size());
  }
  inside_.embedding = row_norms(look.read(look.values().embedding), width);
  take_stream(look, number, inside_, width);
  const int32_t counted = text_.key_lengths.empty() ? text_.T : std::clamp(text_.key_lengths[0], 1, text_.T);
  inside_.attention = attention_of(look, number, static_cast<size_t>(counted));
  attribute_logits(look, store_, model_, std::move(symbols), inside_);
  if (asked_.states) {
    inside_.embedding_state = look.read(look.values().embedding);
    if (has_targets(text_)) inside_.logits = look.read(look.values().logits);
    for (size_t i = 0; i < inside_.sublayers.size(); ++i)
      inside_.sublayers[i].state = look.read(look.values().sublayers[i].output);
  }
  if (asked_.guesses > 0) states_ = states_of(look);
  leave_ = left_out_of(asked_, model_, store_, inside_.sublayers);
  std::ranges::reverse(leave_);
}

bool InsideWork::next() {
  if (done_ >= parts()) return false;
  if (done_ == 0) {
    look();
  } else if (inside_.lens.size() < states_.size()) {
    inside_.lens.push_back(
        lens_of(store_, model_, text_, std::exchange(states_[inside_.lens.size()], {}), asked_.guesses));
  } else if (const size_t place = inside_.backward_lens.size(); place < moving_.size()) {
    inside_.backward_lens.push_back(
        backward_lens_of(store_, model_, std::exchange(moving_[place], {}), asked_.changes));
  } else {
    Inside::LeftOut left = std::move(leave_.back());
    leave_.pop_back();
    left.loss = loss_without(store_, model_, text_, left);
    inside_.left_out.push_back(std::move(left));
  }
  ++done_;
  return true;
}

Inside inside_of(Store& store, const ModelConfig& model, const Batch& text, const InsideQuestion& asked) {
  InsideWork work(store, model, text, asked);
  while (work.next()) {
  }
  return std::move(work).found();
}

std::vector<int32_t> continued(Store& store, const ModelConfig& model, std::vector<int32_t> text,
                               int32_t count, const Draws& draws) {
  if (model.architecture != Architecture::Decoder)
    fail("inside", "an encoder writes no continuation: expected a decoder");
  size_t written = text.size();
  text.resize(written +
              static_cast<size_t>(count));  // causality: no token attends to tokens that are not written yet
  Batch batch = passage_batch(model, text);
  Program program = evaluation_program(store, model, shape_of(batch));
  put(batch, program);
  for (; written < text.size(); ++written) {
    program.replay({});
    program.tokens("tokens")[written] = text[written] =
        drawn_symbol(Logits(program).row(written - 1), draws, written);
  }
  return text;
}

Logits::Logits(const Program& program) : program_(program) {
  const ProgramData& data = program.data();
  const Node& loss = data.nodes[static_cast<size_t>(info(program, data.loss).node)];
  logits_ = loss.in[0];
  row_.resize(static_cast<size_t>(info(program, logits_).shape.cols()));
  log_sums_.resize(static_cast<size_t>(info(program, loss.saved[0]).shape.size()));
  program.read_part(loss.saved[0], log_sums_);
}

std::span<const float> Logits::row(size_t token) {
  program_.read_part(logits_, row_, token * row_.size());
  return row_;
}

std::vector<float> Logits::losses(std::span<const int32_t> targets) const {
  std::vector<float> losses;
  for (size_t t = 0; t < targets.size(); ++t) {
    float logit = std::numeric_limits<float>::quiet_NaN();
    if (targets[t] >= 0 && static_cast<size_t>(targets[t]) < row_.size())
      program_.read_part(logits_, {&logit, 1}, t * row_.size() + static_cast<size_t>(targets[t]));
    losses.push_back(log_sum(t) - logit);
  }
  return losses;
}

namespace {

/// What comes after the last layer, for targets of that shape.
Program end_program(Store& store, const ModelConfig& model, const Batch& text) {
  Tape tape(store);
  const ModelValues end = record_end(tape, model, record_options(shape_of(text), false));
  Program program =
      seal(tape, {.loss = end.loss, .backward = false, .reuse_bytes = true, .keep_probabilities = false});
  put(text, program);
  return program;
}

constexpr double kStep = 0.01;        ///< of a state's length
constexpr size_t kTokensAtOnce = 64;  ///< whose logits are in memory together, twice

/// Puts the states of some tokens, each a step along its direction, then each a step back. Says which have a direction.
std::vector<bool> put_both_sides(std::span<const float> states, std::span<const float> directions,
                                 size_t width, std::span<float> both) {
  std::vector<bool> moves;
  for (size_t to = 0; to < states.size(); to += width) {
    const std::span state = states.subspan(to, width), direction = directions.subspan(to, width);
    const double length = norm_of(direction);
    moves.push_back(length > 0 && std::isfinite(length));
    const double step = moves.back() ? kStep * norm_of(state) / length : 0;
    for (size_t i = 0; i < width; ++i) {
      const auto x = static_cast<double>(state[i]), by = step * static_cast<double>(direction[i]);
      both[to + i] = static_cast<float>(x + by);
      both[states.size() + to + i] = static_cast<float>(x - by);
    }
  }
  return moves;
}

/// Half of what the logarithm of each symbol's probability gains from one row to another.
std::vector<float> half_gain(Logits& logits, size_t from, size_t to) {
  const std::span<const float> row = logits.row(to);
  std::vector<float> gain(row.begin(), row.end());
  const std::span<const float> other = logits.row(from);
  const float sums = logits.log_sum(to) - logits.log_sum(from);
  for (size_t v = 0; v < gain.size(); ++v) gain[v] = (gain[v] - other[v] - sums) / 2;
  return gain;
}

/// Appends the symbols with the largest gains, or the largest losses; as many without a symbol if there are none.
void append_changes(std::vector<float> gains, float sign, size_t count, std::vector<Inside::Change>& to) {
  const size_t all = to.size() + count;
  for (float& gain : gains) gain *= sign;
  for (const int32_t token : largest(gains, count))
    to.push_back({token, sign * gains[static_cast<size_t>(token)]});
  to.resize(all);
}

/// What the end of the model says more, and where it is asked for less, of states that move along their directions.
void read_moved(Store& store, const ModelConfig& model, const LayerState& at,
                std::span<const float> direction, int32_t changes, std::vector<Inside::Change>& raised,
                std::vector<Inside::Change>* lowered) {
  const auto width = static_cast<size_t>(model.d_model),
             symbols = static_cast<size_t>(std::min(changes, model.vocabulary));
  for (size_t first = 0; first < direction.size(); first += kTokensAtOnce * width) {
    const size_t count = std::min(kTokensAtOnce * width, direction.size() - first);
    Batch both(2, static_cast<int32_t>(count / width));
    std::ranges::fill(both.targets, -1);
    Program program = end_program(store, model, both);
    const std::vector<bool> moves =
        put_both_sides(std::span(at.state).subspan(first, count), direction.subspan(first, count), width,
                       program.floats("state"));
    program.replay({});
    Logits logits(program);
    for (size_t t = 0; t < moves.size(); ++t) {
      const std::vector<float> gains =
          moves[t] ? half_gain(logits, moves.size() + t, t) : std::vector<float>();
      append_changes(gains, 1, symbols, raised);
      if (lowered) append_changes(gains, -1, symbols, *lowered);
    }
  }
}

}  // namespace

Inside::BackwardLens backward_lens_of(Store& store, const ModelConfig& model, const MovingState& state,
                                      int32_t changes) {
  Inside::BackwardLens lens{.name = state.name, .layer = state.layer};
  read_moved(store, model, state, state.asked, changes, lens.asked, nullptr);
  read_moved(store, model, state, state.written, changes, lens.raised, &lens.lowered);
  return lens;
}

Inside::Lens lens_of(Store& store, const ModelConfig& model, const Batch& text, const LayerState& layer,
                     int32_t guesses) {
  Program program = end_program(store, model, text);
  std::ranges::copy(layer.state, program.floats("state").begin());
  if (!layer.second.empty()) std::ranges::copy(layer.second, program.floats("state.second").begin());
  program.replay({});
  Logits logits(program);
  Inside::Lens lens;
  lens.name = layer.name;
  lens.layer = layer.layer;
  lens.loss = program.loss();
  for (const float loss : logits.losses(text.targets)) lens.right.push_back(std::exp(-loss));
  for (size_t t = 0; t < text.tokens.size(); ++t) {
    const std::span<const float> row = logits.row(t);
    for (const int32_t token : largest(row, static_cast<size_t>(guesses)))
      lens.guesses.push_back({token, std::exp(row[static_cast<size_t>(token)] - logits.log_sum(t))});
  }
  return lens;
}

InsideLook::InsideLook(Run& run, std::unique_ptr<Run> then, const InsideRequest& asked)
    : then_(std::move(then)), run_(&run), spectra_of_(asked.spectra_of) {
  const RunSpec& spec = run.spec();
  require_language(spec.model);
  std::vector<int32_t> tokens = tokens_of(run, asked.text);
  const size_t most = most_inside(spec.model);
  if (asked.text.empty() && tokens.size() > most) tokens.resize(most);
  if (tokens.size() < 2 || tokens.size() > most)
    fail("text", "{} tokens: expected 2 to {}, which this model reads at once", tokens.size(), most);
  found_.step = run.steps_done();
  found_.text = asked.text;
  found_.left_out = asked.left_out;
  found_.draws = asked.draws;
  std::vector<int32_t> types = run.task().types(tokens);
  work_.emplace(run.store(), spec.model, passage_batch(spec.model, std::move(tokens), std::move(types)),
                InsideQuestion{.guesses = 3,
                               .changes = asked.backward_lens ? 1 : 0,
                               .left_out = asked.left_out,
                               .heads_out = asked.left_out,
                               .draws = asked.draws});
}

/// The spectra come before the losses without a part, as they take a single step.
bool InsideLook::next() {
  if (!std::exchange(told_, true)) return true;
  if (!work_->quick_done() || !spectra_of_ || found_.spectra_of) return work_->next();
  found_.spectra = next_spectra(*run_, spectra_of_);
  found_.spectra_of = spectra_of_;
  return true;
}

bool InsideLook::worth_showing() const {
  return done() == parts() || work_->done() <= 1 || work_->heads_next() ||
         (work_->quick_done() && work_->found().left_out.empty());
}

std::shared_ptr<const RunInside> InsideLook::found() const {
  auto inside = std::make_shared<RunInside>(found_);
  inside->found = work_->found();
  inside->whole = done() == parts();
  const auto word = [&](int32_t token) { inside->words.try_emplace(token, run_->task().label(token)); };
  std::ranges::for_each(inside->found.tokens, word);
  std::ranges::for_each(inside->found.attributed.symbol, word);
  word(inside->found.next);
  for (const Inside::Lens& lens : inside->found.lens)
    for (const Inside::Guess& guess : lens.guesses) word(guess.token);
  for (const Inside::BackwardLens& lens : inside->found.backward_lens)
    for (const auto* changes : {&lens.asked, &lens.raised, &lens.lowered})
      for (const Inside::Change& change : *changes)
        if (change.token >= 0) word(change.token);
  return inside;
}

session::Inquire look_command(const InsideRequest& asked) {
  return {.run = asked.run,
          .step = asked.step,
          .copies = asked.spectra_of ? 1 : 0,
          .begin = [asked](Run& run, std::unique_ptr<Run> then) -> std::unique_ptr<Inquiry> {
            return std::make_unique<InsideLook>(run, std::move(then), asked);
          }};
}

const RunInside* inside_of(const RunView& run) { return dynamic_cast<const RunInside*>(run.inquiry.get()); }

}  // namespace normscope
