// Seven models, each with a context of its own, vote on the next bit. A mixer adds their votes up and learns how much
// each model counts (logistic mixing: Mahoney, "Adaptive weighing of context models", 2005).
#include "app/link/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace normscope::link {
namespace {

constexpr int kSlotBits = 18;
constexpr uint16_t kMostSeen = 30;
constexpr int32_t kFirstWeight = 1 << 14, kLargestWeight = 1 << 20;

// Votes are log odds in 1/256, from -8 to 8. The compiler computes them, as the library's exp may differ by machine.
constexpr int kVotes = 4096;
struct Odds {
  std::array<uint16_t, kVotes> chance{};  // of a vote, of 65,536
  std::array<int16_t, kVotes> vote{};     // of a chance of 4,096
};

constexpr double exp_of(double x) {
  double sum = 1, term = 1;
  for (int n = 1; n < 40; ++n) {
    term = term * x / n;
    sum += term;
  }
  return sum;
}

constexpr Odds make_odds() {
  Odds odds;
  const double step = exp_of(-1.0 / 256);
  double against = exp_of(8.0);  // odds against, of the lowest vote
  for (size_t i = 0; i < kVotes; ++i) {
    const int chance = static_cast<int>(65536.0 / (1.0 + against) + 0.5);
    odds.chance[i] = static_cast<uint16_t>(std::clamp(chance, 32, 65536 - 32));
    against = against * step;
  }
  size_t at = 0;
  for (int chance = 0; chance < kVotes; ++chance) {
    while (at + 1 < kVotes && (odds.chance[at] >> 4) < chance) ++at;
    odds.vote[static_cast<size_t>(chance)] = static_cast<int16_t>(static_cast<int>(at) - kVotes / 2);
  }
  return odds;
}
constexpr Odds kOdds = make_odds();

// `kShares` is how far a model goes towards what it saw, of 65,536: less each time.
constexpr auto kShares = [] {
  std::array<int32_t, kMostSeen + 1> shares{};
  for (size_t n = 0; n < shares.size(); ++n) shares[n] = static_cast<int32_t>(655360 / (10 * n + 16));
  return shares;
}();

constexpr uint32_t mixed(uint32_t hash, uint8_t byte) {
  hash = (hash ^ byte) * 0x01000193u + 0x811C9DC5u;
  return hash ^ (hash >> 15);
}
constexpr uint32_t folded(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(((uint64_t{a} << 32 | b) * 0x9E3779B97F4A7C15ull) >> 32);
}

// `kKeys` is the format as version 1 knows it: later settings are no worse for not being named here.
constexpr std::string_view kKeys =
    "data.consecutive data.digits data.image_labels data.images data.labels data.name data.pairs data.punctuation "
    "data.seed data.text data.tokenizer data.treebank data.valid data.vocabulary model.activation "
    "model.adanorm_scale model.adanorm_slope model.architecture model.channels model.channels_2 model.d_model "
    "model.dropout_activation model.dropout_attention model.dropout_residual model.dyt_alpha "
    "model.encoder_layers model.encoder_placement model.eps model.feed_forward model.heads model.init "
    "model.layers model.memory model.norm model.output_projection model.placement model.pooling "
    "model.positions model.sequence model.shared_embedding model.tied model.window run.name run.seed "
    "train.batch train.beta1 train.beta2 train.bias_correction train.clip train.critical_every "
    "train.decay_end train.decay_factor train.eps train.init_from train.label_smoothing train.lr "
    "train.milestones train.momentum train.optimizer train.reference train.reuse_gradients train.schedule "
    "train.steps train.warmup train.weight_decay ";
constexpr const char* kNorms[] = {"ln",          "simple",     "rms",     "detach",
                                  "detach-mean", "detach-var", "adanorm", "dyt"};
constexpr const char* kPlaces[] = {"enter", "before", "q", "k", "v", "output", "after", "trunk"};

std::string words_of_the_format() {
  std::string text =
      "run=A=post\nrun=B=post-warmup\nrun=C=pre\nrun=D=post\nset=train.steps=600\nset=run.seed=2\n";
  for (std::string_view keys = kKeys; !keys.empty(); keys.remove_prefix(keys.find(' ') + 1)) {
    const std::string_view key = keys.substr(0, keys.find(' '));
    text +=
        key.starts_with("train") ? fmt::format("set=A:{}=0.001\n", key) : fmt::format("set=B:{}=12\n", key);
  }
  for (int layer = 1; layer <= 48; ++layer)
    for (const char* sublayer : {"attn", "ffn"})
      text += fmt::format("set=A:wiring.L{:02}.{}=before=ln\n", layer, sublayer);
  text +=
      "set=B:wiring.final=ln\nset=B:wiring.embedding=none\nset=B:wiring.second=none\n"
      "set=B:wiring.enc.L01.attn=trunk=ln\nset=B:wiring.dec.L01.cross=before=ln\n";
  for (const char* norm : kNorms) {
    text += "set=C:wiring.L02.attn";
    for (size_t i = 0; i < std::size(kPlaces); ++i)
      text += fmt::format("{}{}={}", i ? ' ' : '=', kPlaces[i], norm);
    text += fmt::format("\nset=C:wiring.L02.ffn=before={0} after={0} trunk={0}\n", norm);
  }
  text +=
      "set=D:wiring.L01.ffn=skip=admin:1 branch=scalar:0 pre-scale=0.5 gain=0.38 head-scale shifts bottom\n"
      "edit=A:12:train.lr=0.001\nedit=B:214:train.warmup=100\nedit=D:300:model.placement=pre\n"
      "edit=D:301:wiring.L01.attn=before=ln\nstep=300\ncursor=214\nscreen=lessons:warm-up:compare\n"
      "theme=dark\nshown=B\nmarks=12,40\nend\n";
  return text;
}

}  // namespace

void LinePlace::take(uint8_t byte) {
  if (byte == '\n') {
    LinePlace next;
    next.above = key;
    next.letter_above = letter;
    *this = next;
    return;
  }
  if (in_value_ < 0) {
    if (first == 0) first = byte;
    text = mixed(text, byte);
    word = mixed(word, byte);
    if (byte != '=') return;
    in_value_ = 0;
    head_ = text;
    word = mixed(0, byte);
    return;
  }
  in_value_ = std::min(in_value_ + 1, 3);
  if (byte == ':' && in_value_ == 2) {  // the byte before it was a run's letter
    letter = last_;
    text = head_;
    key = 0;
    word = mixed(0, byte);
    last_ = byte;
    return;
  }
  text = mixed(text, byte);
  if (in_key_ && byte == '=')
    in_key_ = false;
  else if (in_key_)
    key = byte == ':' ? 0 : mixed(key, byte);  // what stood before it was a step
  word = mixed(byte == ' ' || byte == '=' || byte == ':' ? 0 : word, byte);
  last_ = byte;
}

Predictor::Predictor() : slots_(kModels << kSlotBits) {
  for (auto& weights : weights_) weights.fill(kFirstWeight);
  begin_byte();
  static const std::string known = words_of_the_format();
  for (const char c : known)
    for (int bit = 7; bit >= 0; --bit) {
      chance();
      learn(static_cast<uint8_t>(c) >> bit & 1);
    }
}

void Predictor::begin_byte() {
  constexpr uint32_t kLengths[] = {1, 2, 3, 4, 6};  // bytes before this one
  for (uint32_t i = 0; i < 5; ++i) {
    const uint64_t before = recent_ & ((uint64_t{1} << (8 * kLengths[i])) - 1);
    context_[i] =
        folded(i + 1, 0) ^ folded(static_cast<uint32_t>(before >> 32), static_cast<uint32_t>(before));
  }
  context_[5] = folded(place_.above, place_.text);
  context_[6] = folded(place_.word, uint32_t{place_.first} << 8 | place_.letter_above);
}

uint32_t Predictor::chance() {
  const auto& weights = weights_[byte_];
  int64_t sum = 0;
  for (size_t i = 0; i < kModels; ++i) {
    const uint32_t hash = (context_[i] + byte_ * 0x2545F491u) * 0x9E3779B1u;
    slot_[i] = (i << kSlotBits) + (hash >> (32 - kSlotBits));
    vote_[i] = kOdds.vote[slots_[slot_[i]].chance >> 4];
    sum += int64_t{vote_[i]} * weights[i];
  }
  const int64_t vote = std::clamp<int64_t>(sum >> 16, -kVotes / 2, kVotes / 2 - 1);
  return chance_ = kOdds.chance[static_cast<size_t>(vote + kVotes / 2)];
}

void Predictor::learn(uint32_t bit) {
  auto& weights = weights_[byte_];
  const int32_t error = (static_cast<int32_t>(bit << 16) - static_cast<int32_t>(chance_)) >> 4;
  for (size_t i = 0; i < kModels; ++i) {
    weights[i] =
        std::clamp(weights[i] + ((vote_[i] * error * 4 + 512) >> 10), -kLargestWeight, kLargestWeight);
    Slot& slot = slots_[slot_[i]];
    const int64_t off = int64_t{bit ? 65535 : 0} - slot.chance;
    slot.chance = static_cast<uint16_t>(slot.chance + ((off * kShares[slot.seen]) >> 16));
    slot.seen = std::min<uint16_t>(static_cast<uint16_t>(slot.seen + 1), kMostSeen);
  }
  byte_ = byte_ << 1 | bit;
  if (byte_ < 256) return;
  const auto byte = static_cast<uint8_t>(byte_);
  byte_ = 1;
  recent_ = recent_ << 8 | byte;
  place_.take(byte);
  begin_byte();
}

}  // namespace normscope::link
