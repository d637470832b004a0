// The tables of normscope inspect.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "addons/inside/app/commands/inspect.h"
#include "app/cli/terminal.h"
#include "engine/cpu/measure_rows.h"
#include "training/io/text.h"

namespace normscope::commands {
using namespace cli;
using namespace inside;
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kMostTokens = 32;  ///< rows of tokens; of a longer text those with the largest loss
constexpr size_t kMostColumns = 8;  ///< tokens beside each other
constexpr size_t kMostGuesses = 4;  ///< of one token

std::string four_digits(double value) { return fmt::format("{:.4g}", value); }

void print_table(std::string_view title, const Rows& rows, std::string_view alignment) {
  say("\n{}\n", title);
  put(text_table(rows, alignment));
}

/// The place of a token, counted from 1, and what it is.
std::string token_at(const Inspection& of, size_t place) {
  return fmt::format("{}: {}", place + 1, shown_token(of, of.inside.tokens[place]));
}

void print_tokens(const Inspection& of) {
  const Inside& in = of.inside;
  std::vector<size_t> places;
  for (size_t t = 0; t < in.tokens.size(); ++t)
    if (std::isfinite(in.token_loss[t]) || in.tokens.size() <= kMostTokens) places.push_back(t);
  const bool all = in.tokens.size() <= kMostTokens;
  if (!all) {
    std::ranges::stable_sort(places, std::greater<>(), [&](size_t t) { return in.token_loss[t]; });
    places.resize(std::min(places.size(), kMostTokens));
    std::ranges::sort(places);
  }
  Rows rows{{of.unit, "asked for", "loss"}};
  for (const size_t t : places) {
    const bool asked = in.targets[t] >= 0;
    rows.push_back({token_at(of, t), asked ? shown_token(of, in.targets[t]) : "",
                    asked ? fmt::format("{:.4f}", in.token_loss[t]) : ""});
  }
  print_table(all ? fmt::format("the {}s, and what each is worth in nats", of.unit)
                  : fmt::format("the {} {}s with the largest loss", places.size(), of.unit),
              rows, "llr");
}

void print_stream(const Inspection& of) {
  const auto stream = [&](std::vector<float> norms) {
    const auto largest = static_cast<size_t>(std::ranges::max_element(norms) - norms.begin());
    const float most = norms[largest];
    return std::vector{four_digits(root_mean_square(norms)), four_digits(cpu::median(norms)),
                       four_digits(most), token_at(of, largest)};
  };
  Rows rows{{"sub-layer", "branch var", "stream var", "beta2", "by " + of.unit, "token cos", "layer cos",
             "stream norm", "median", "largest", "at"},
            {"embedding", "", "", "", "", "", ""}};
  std::ranges::copy(stream(of.inside.embedding), std::back_inserter(rows.back()));
  for (const Inside::Sublayer& s : of.inside.sublayers) {
    rows.push_back({s.name, four_digits(s.branch_variance), four_digits(s.input_variance),
                    four_digits(s.shares.back()), four_digits(s.token_share), four_digits(s.token_cosine),
                    four_digits(s.layer_cosine)});
    std::ranges::copy(stream(s.norms), std::back_inserter(rows.back()));
  }
  print_table(fmt::format("the stream: what each sub-layer adds, and how long the state of a {} is after it",
                          of.unit),
              rows, "lrrrrrrrrrl");
  if (const auto dominant = dominant_of(of.inside))
    say("{} dominates: after {} its state is {:.3g} times as long as the median one. Variances and beta2 over all "
        "{}s say what it does; \"by {}\" is the median of each one's share in its own state.\n",
        token_at(of, dominant->token), of.inside.sublayers[dominant->sublayer].name, dominant->times, of.unit,
        of.unit);
}

/// The shares of the embedding, the layers before and the layer itself in a state.
using LayerShares = std::array<double, 3>;

/// Adds up the shares of the parts `share(0)` to `share(last)`, of which those from `first` on are the layer's.
template <typename Share>
LayerShares sums_of(size_t first, size_t last, const Share& share) {
  LayerShares sums{};
  for (size_t j = 0; j <= last; ++j) sums[j == 0 ? 0 : j < first ? 1 : 2] += static_cast<double>(share(j));
  return sums;
}

/// The shares over all tokens together or, where one dominates, their median over the tokens.
LayerShares shares_of(const Inside::Sublayer& s, size_t first, bool dominated) {
  const size_t last = s.shares.size() - 1;
  if (!dominated) return sums_of(first, last, [&](size_t j) { return s.shares[j]; });
  std::array<std::vector<float>, 3> by_token;
  for (size_t t = 0; t < s.norms.size(); ++t) {
    const LayerShares sums = sums_of(first, last, [&](size_t j) { return s.share(j, t); });
    for (size_t i = 0; i < sums.size(); ++i) by_token[i].push_back(static_cast<float>(sums[i]));
  }
  return {cpu::median(by_token[0]), cpu::median(by_token[1]), cpu::median(by_token[2])};
}

/// A row for each layer: the shares of its last state.
void print_shares(const Inspection& of) {
  const std::vector<Inside::Sublayer>& all = of.inside.sublayers;
  const bool dominated = dominant_of(of.inside).has_value();
  Rows rows{{"layer", "embedding", "layers before", "this layer"}};
  if (!dominated) rows.back().emplace_back("largest share");
  for (size_t i = 0, first = 0; i < all.size(); ++i) {
    if (i + 1 < all.size() && all[i + 1].layer == all[i].layer) continue;
    rows.push_back({fmt::format("L{:02}", all[i].layer)});
    for (const double share : shares_of(all[i], first + 1, dominated))
      rows.back().push_back(four_digits(share));
    const std::vector<double>& shares = all[i].shares;  // of the embedding, then of sub-layers 0 to i
    const auto most = static_cast<size_t>(std::ranges::max_element(shares) - shares.begin());
    if (!dominated)
      rows.back().push_back(
          fmt::format("{} {}", four_digits(shares[most]), most == 0 ? "embedding" : all[most - 1].name));
    first = i + 1;
  }
  print_table(
      fmt::format("shares of the state's variance after each layer{}; they add up to more than 1 where parts "
                  "cancel each other",
                  dominated ? fmt::format(", median over the {}s", of.unit) : ""),
      rows, dominated ? "lrrr" : "lrrrl");
}

void print_attention(const Inspection& of) {
  Rows rows{{"attention", "entropy", "narrowest head", "widest head"}};
  for (const Inside::Attention& a : of.inside.attention) {
    const auto [low, high] = std::ranges::minmax_element(a.entropy);
    const auto head = [&](auto at) { return fmt::format("{}: {:.3f}", at - a.entropy.begin() + 1, *at); };
    const double mean = std::accumulate(a.entropy.begin(), a.entropy.end(), 0.0) / a.heads;
    rows.push_back({a.name, fmt::format("{:.3f}", mean), head(low), head(high)});
  }
  print_table("entropy of attention, nats: mean over the heads, and the heads at both ends", rows, "lrrr");
}

/// Shows the first guess at each token of a short text, otherwise several at the last.
void print_lens(const Inspection& of) {
  const Inside& in = of.inside;
  const size_t tokens = in.tokens.size(), guesses = in.lens.front().guesses.size() / tokens,
               last = tokens - 1;
  const auto guess = [&](const Inside::Lens& lens, size_t t, size_t i) {
    const Inside::Guess& g = lens.guesses[t * guesses + i];
    return fmt::format("{} {:.2g}", shown_token(of, g.token), g.probability);
  };
  const bool each = tokens <= kMostColumns;
  Rows rows{{"layer", "loss"}};
  for (size_t t = 0; each && t < tokens; ++t) rows.back().push_back(token_at(of, t));
  const size_t columns = each ? tokens : std::min(guesses, kMostGuesses);
  if (!each) rows.back().push_back("at " + token_at(of, last));
  for (const Inside::Lens& lens : in.lens) {
    rows.push_back({lens.name, fmt::format("{:.4f}", lens.loss)});
    for (size_t c = 0; c < columns; ++c)
      rows.back().push_back(each ? guess(lens, c, 0) : guess(lens, last, c));
  }
  print_table("what each layer would say if the output layer read its state (the logit lens)", rows,
              "lr" + std::string(columns, 'l'));
}

void print_left_out(const Inspection& of) {
  Rows rows{{"left out", "loss", "change"}};
  for (const Inside::LeftOut& l : of.inside.left_out)
    rows.push_back({l.name, fmt::format("{:.4f}", l.loss), fmt::format("{:+.4f}", l.loss - of.inside.loss)});
  print_table("the loss with a sub-layer or a layer left out", rows, "lrr");
}

void print_gradients(const Inspection& of) {
  Rows rows{{"matrix", "gradient norm"}};
  for (const Inside::Gradient& g : of.inside.gradients) rows.push_back({g.name, four_digits(g.norm)});
  print_table("gradients", rows, "lr");
}

}  // namespace

void print_inside(const Inspection& of) {
  const Inside& in = of.inside;
  const auto asked = std::ranges::count_if(in.targets, [](int32_t target) { return target >= 0; });
  if (asked > 0) {
    say("\nloss {:.4f} over {} {}s, perplexity {:.4g}\n", in.loss, asked, of.unit, std::exp(in.loss));
    print_tokens(of);
  } else {
    say("\nthe files have no head that says {}s: no loss, no gradients, and nothing that a layer would say\n",
        of.unit);
  }
  print_stream(of);
  print_shares(of);
  if (!in.attention.empty()) print_attention(of);
  if (!in.lens.empty()) print_lens(of);
  if (!in.left_out.empty()) print_left_out(of);
  if (!in.gradients.empty()) print_gradients(of);
}

}  // namespace normscope::commands
