// What stands under the text of Inside: which token the model foresaw worst, and where its stream was turned most.
#include <algorithm>
#include <cmath>

#include "addons/inside/app/grid.h"
#include "app/ui/numbers.h"
#include "app/words/words.h"

namespace normscope::inside {

std::string sentence_of(const RunInside& inside) {
  const Inside& found = inside.found;
  std::string text;
  const auto less = [](float a, float b) { return !std::isfinite(a) || (std::isfinite(b) && a < b); };
  const auto worst = std::ranges::max_element(found.token_loss, less);
  // A decoder's loss stands at the token before the one that it foresaw.
  const bool ahead = !found.targets.empty() && found.targets != found.tokens;
  const auto token = static_cast<size_t>(worst - found.token_loss.begin()) + (ahead ? 1 : 0);
  if (worst != found.token_loss.end() && std::isfinite(*worst) && token < found.tokens.size())
    text = tr("The model foresaw “{token}” worst: {loss} nats.",
              {{"token", word_of(inside, found.tokens[token])},
               {"loss", ui::number(static_cast<double>(*worst), 3)}});
  const auto turned = std::ranges::min_element(
      found.sublayers, [](const auto& a, const auto& b) { return a.layer_cosine < b.layer_cosine; });
  if (turned != found.sublayers.end() && std::isfinite(turned->layer_cosine))
    text += (text.empty() ? "" : " ") + tr("{row} turned its stream most.", {{"row", turned->name}});
  return text;
}

}  // namespace normscope::inside
