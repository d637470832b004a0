// These are the tables of normscope inspect.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "app/cli/terminal.h"
#include "app/commands/inspect/inspect.h"
#include "training/io/text_table.h"

namespace normscope::commands {
using namespace cli;
using namespace inside;
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr size_t kMostSymbols = 32;  ///< rows of symbols; of a longer text those with the largest loss
constexpr size_t kMostColumns = 8;   ///< symbols beside each other
constexpr size_t kMostGuesses = 4;   ///< of one symbol

std::string four_digits(double value) { return fmt::format("{:.4g}", value); }

void print_table(std::string_view title, const Rows& rows, std::string_view alignment) {
  say("\n{}\n", title);
  put(text_table(rows, alignment));
}

/// `symbol_at` is the place of a symbol, counted from 1, and what it is.
std::string symbol_at(const Inspected& of, size_t place) {
  return fmt::format("{}: {}", place + 1, shown_token(of, of.inside.tokens[place]));
}

void print_symbols(const Inspected& of) {
  const Inside& in = of.inside;
  std::vector<size_t> places;
  for (size_t t = 0; t < in.tokens.size(); ++t)
    if (std::isfinite(in.token_loss[t]) || in.tokens.size() <= kMostSymbols) places.push_back(t);
  const bool all = in.tokens.size() <= kMostSymbols;
  if (!all) {
    std::ranges::stable_sort(places, std::greater<>(), [&](size_t t) { return in.token_loss[t]; });
    places.resize(std::min(places.size(), kMostSymbols));
    std::ranges::sort(places);
  }
  Rows rows{{"symbol", "asked for", "loss"}};
  for (const size_t t : places) {
    const bool asked = in.targets[t] >= 0;
    rows.push_back({symbol_at(of, t), asked ? shown_token(of, in.targets[t]) : "",
                    asked ? fmt::format("{:.4f}", in.token_loss[t]) : ""});
  }
  print_table(all ? "the symbols, and what each is worth in nats"
                  : fmt::format("the {} symbols with the largest loss", places.size()),
              rows, "llr");
}

void print_stream(const Inspected& of) {
  const auto stream = [&](const std::vector<float>& norms) {
    const auto largest = static_cast<size_t>(std::ranges::max_element(norms) - norms.begin());
    return std::vector{four_digits(root_mean_square(norms)), four_digits(norms[largest]),
                       symbol_at(of, largest)};
  };
  Rows rows{{"sub-layer", "branch var", "stream var", "beta2", "token cos", "layer cos", "stream norm",
             "largest", "at"},
            {"embedding", "", "", "", "", ""}};
  std::ranges::copy(stream(of.inside.embedding), std::back_inserter(rows.back()));
  for (const Inside::Sublayer& s : of.inside.sublayers) {
    rows.push_back({s.name, four_digits(s.branch_variance), four_digits(s.input_variance),
                    four_digits(s.shares.back()), four_digits(s.token_cosine), four_digits(s.layer_cosine)});
    std::ranges::copy(stream(s.norms), std::back_inserter(rows.back()));
  }
  print_table("the stream: what each sub-layer adds, and how long the state of a symbol is after it", rows,
              "lrrrrrrrl");
}

/// `print_shares` has a row for each layer: the shares of its last state.
void print_shares(const Inspected& of) {
  const std::vector<Inside::Sublayer>& all = of.inside.sublayers;
  Rows rows{{"layer", "embedding", "layers before", "this layer", "largest share"}};
  for (size_t i = 0, first = 0; i < all.size(); ++i) {
    if (i + 1 < all.size() && all[i + 1].layer == all[i].layer) continue;
    const std::vector<double>& shares = all[i].shares;  // of the embedding, then of sub-layers 0 to i
    const auto own = shares.begin() + static_cast<std::ptrdiff_t>(first) + 1;
    const auto most = static_cast<size_t>(std::ranges::max_element(shares) - shares.begin());
    rows.push_back(
        {fmt::format("L{:02}", all[i].layer), four_digits(shares[0]),
         four_digits(std::accumulate(shares.begin() + 1, own, 0.0)),
         four_digits(std::accumulate(own, shares.end(), 0.0)),
         fmt::format("{} {}", four_digits(shares[most]), most == 0 ? "embedding" : all[most - 1].name)});
    first = i + 1;
  }
  print_table("shares of the state's variance after each layer", rows, "lrrrl");
}

void print_attention(const Inspected& of) {
  Rows rows{{"attention", "entropy", "narrowest head", "widest head"}};
  for (const Inside::Attention& a : of.inside.attention) {
    const auto [low, high] = std::ranges::minmax_element(a.entropy);
    const auto head = [&](auto at) { return fmt::format("{}: {:.3f}", at - a.entropy.begin() + 1, *at); };
    const double mean = std::accumulate(a.entropy.begin(), a.entropy.end(), 0.0) / a.heads;
    rows.push_back({a.name, fmt::format("{:.3f}", mean), head(low), head(high)});
  }
  print_table("entropy of attention, nats: mean over the heads, and the heads at both ends", rows, "lrrr");
}

/// `print_lens` shows the first guess at each symbol of a short text, otherwise several at the last.
void print_lens(const Inspected& of) {
  const Inside& in = of.inside;
  const size_t symbols = in.tokens.size(), guesses = in.lens.front().guesses.size() / symbols,
               last = symbols - 1;
  const auto guess = [&](const Inside::Lens& lens, size_t t, size_t i) {
    const Inside::Guess& g = lens.guesses[t * guesses + i];
    return fmt::format("{} {:.2g}", shown_token(of, g.token), g.probability);
  };
  const bool each = symbols <= kMostColumns;
  Rows rows{{"layer", "loss"}};
  for (size_t t = 0; each && t < symbols; ++t) rows.back().push_back(symbol_at(of, t));
  const size_t columns = each ? symbols : std::min(guesses, kMostGuesses);
  if (!each) rows.back().push_back("at " + symbol_at(of, last));
  for (const Inside::Lens& lens : in.lens) {
    rows.push_back({lens.name, fmt::format("{:.4f}", lens.loss)});
    for (size_t c = 0; c < columns; ++c)
      rows.back().push_back(each ? guess(lens, c, 0) : guess(lens, last, c));
  }
  print_table("what each layer would say if the output layer read its state (the logit lens)", rows,
              "lr" + std::string(columns, 'l'));
}

void print_left_out(const Inspected& of) {
  Rows rows{{"left out", "loss", "change"}};
  for (const Inside::LeftOut& l : of.inside.left_out)
    rows.push_back({l.name, fmt::format("{:.4f}", l.loss), fmt::format("{:+.4f}", l.loss - of.inside.loss)});
  print_table("the loss with a sub-layer or a layer left out", rows, "lrr");
}

void print_gradients(const Inspected& of) {
  Rows rows{{"matrix", "gradient norm"}};
  for (const Inside::Gradient& g : of.inside.gradients) rows.push_back({g.name, four_digits(g.norm)});
  print_table("gradients", rows, "lr");
}

}  // namespace

void print_inside(const Inspected& of) {
  const Inside& in = of.inside;
  const auto asked = std::ranges::count_if(in.targets, [](int32_t target) { return target >= 0; });
  say("\nloss {:.4f} over {} symbols, perplexity {:.4g}\n", in.loss, asked, std::exp(in.loss));
  print_symbols(of);
  print_stream(of);
  print_shares(of);
  if (!in.attention.empty()) print_attention(of);
  if (!in.lens.empty()) print_lens(of);
  if (!in.left_out.empty()) print_left_out(of);
  if (!in.gradients.empty()) print_gradients(of);
}

}  // namespace normscope::commands
