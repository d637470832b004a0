#include "app/course/tapes/followed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/ui/widgets.h"

namespace normscope::course {
namespace {

using Op = SmallTape::Op;

/// The mean of a row, `product_mean` that of the products of two.
double mean_of(const std::vector<float>& row) {
  return std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
}

double product_mean(const std::vector<float>& a, const std::vector<float>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) / static_cast<double>(a.size());
}

std::string text_of(double value) { return ui::number(value, 3); }
/// Sets a number below zero in brackets, as it stands behind a sign.
std::string factor(double value) { return value < 0 ? "(" + text_of(value) + ")" : text_of(value); }

/// Follows one place through one instruction, whose numbers it knows by name.
class Follower {
 public:
  Follower(const SmallTape::Instruction& i, const SmallReplay& replay, size_t place, const Words& words)
      : i_(i), replay_(replay), place_(place), words_(words) {}

  std::string forward() const {
    switch (i_.op) {
      case Op::Multiply:
        return product();
      case Op::Add:
        return fmt::format("{} = {} + {} = {} + {} = {}", name(i_.name), name(i_.of[0]), name(i_.of[1]),
                           text(i_.of[0]), factor(value(i_.of[1])), text(i_.name));
      case Op::Relu:
        return fmt::format("{} = max(0, {}) = max(0, {}) = {}", name(i_.name), name(i_.of[0]), text(i_.of[0]),
                           text(i_.name));
      case Op::Norm:
        return norm();
      case Op::CrossEntropy:
        return loss();
    }
    return "";
  }

  std::string backward() const {
    switch (i_.op) {
      case Op::Multiply:
        return product_back();
      case Op::Add:
        return fmt::format("{} = {} = {}", gradient_name(i_.of[1]), gradient_name(i_.name),
                           gradient_text(i_.of[1]));
      case Op::Relu:
        return fmt::format("{} = {} = {}", gradient_name(i_.of[0]),
                           value(i_.of[0]) > 0 ? gradient_name(i_.name) : "0", gradient_text(i_.of[0]));
      case Op::Norm:
        return norm_back();
      case Op::CrossEntropy:
        return loss_back();
    }
    return "";
  }

 private:
  const std::vector<float>& all(const std::string& name) const { return replay_.values.at(name).values; }
  const std::vector<float>& gradients(const std::string& name) const {
    return replay_.gradients.at(name).values;
  }
  size_t at(const std::string& name) const { return std::min(place_, all(name).size()) - 1; }
  double value(const std::string& name) const { return static_cast<double>(all(name)[at(name)]); }
  double gradient(const std::string& name) const { return static_cast<double>(gradients(name)[at(name)]); }
  std::string text(const std::string& name) const { return text_of(value(name)); }
  std::string gradient_text(const std::string& name) const { return text_of(gradient(name)); }
  std::string name(const std::string& name) const {
    return subscripted(name, all(name).size() > 1 ? at(name) + 1 : 0);
  }
  std::string gradient_name(const std::string& of) const {
    return words_.tr("gradient of {name}", {{"name", name(of)}});
  }

  bool one_in() const { return all(i_.of[0]).size() == 1; }  ///< a number times a row
  bool one_out() const { return all(i_.name).size() == 1; }  ///< a row times a column
  bool simple_norm() const { return i_.norm == NormKind::Simple; }

  std::string product() const {
    if (one_in())
      return fmt::format("{} = {} × {} = {} × {} = {}", name(i_.name), name(i_.of[0]), name(i_.of[1]),
                         text(i_.of[0]), factor(value(i_.of[1])), text(i_.name));
    if (!one_out()) return "";
    const std::vector<float>&x = all(i_.of[0]), &w = all(i_.of[1]);
    std::vector<std::string> parts;
    for (size_t k = 0; k < x.size(); ++k)
      parts.push_back(
          fmt::format("{} × {}", factor(static_cast<double>(x[k])), factor(static_cast<double>(w[k]))));
    return fmt::format("{} = {} = {}", name(i_.name), fmt::join(parts, " + "), text(i_.name));
  }

  std::string product_back() const {
    const std::string &x = i_.of[0], &w = i_.of[1];
    if (!one_in() && !one_out()) return "";
    // What multiplies the arriving gradient is the other factor.
    const std::string& arriving = i_.name;
    return fmt::format("{} = {} × {} = {} × {} = {}", gradient_name(w), gradient_name(arriving), name(x),
                       gradient_text(arriving), factor(value(x)), gradient_text(w));
  }

  /// Zero where the number is only what rounding left of numbers as large as `of`.
  static double rounded(double value, const std::vector<float>& of) {
    const auto larger = [](float a, float b) { return std::abs(a) < std::abs(b); };
    const double most = std::abs(static_cast<double>(*std::max_element(of.begin(), of.end(), larger)));
    return std::abs(value) < 1e-6 * most ? 0 : value;
  }

  double spread(const std::string& of) const {
    const double mean = mean_of(all(of));
    return std::sqrt(std::max(0.0, product_mean(all(of), all(of)) - mean * mean));
  }

  std::string norm() const {
    const std::string& s = i_.of[0];
    return words_.tr(
        "{result} = ({of} − {mean}) / {spread} = {value}, with the mean {mean} and the standard "
        "deviation {spread} of {row}",
        {{"result", name(i_.name)},
         {"value", text(i_.name)},
         {"of", text(s)},
         {"mean", text_of(mean_of(all(s)))},
         {"spread", text_of(spread(s))},
         {"row", s}});
  }

  std::string norm_back() const {
    const std::string& s = i_.of[0];
    if (!simple_norm()) return "";
    const std::vector<float>&g = gradients(i_.name), &y = all(i_.name);
    return words_.tr(
        "{result} = ({arriving} − {mean} − {along} × {output}) / {spread} = {value}: what "
        "arrives, less its mean and its part along the output ({along}, the mean of gradient "
        "times output, times {name}), divided by the standard deviation",
        {{"result", gradient_name(s)},
         {"value", gradient_text(s)},
         {"arriving", gradient_text(i_.name)},
         {"mean", factor(rounded(mean_of(g), g))},
         {"along", factor(product_mean(g, y))},
         {"output", factor(value(i_.name))},
         {"name", name(i_.name)},
         {"spread", text_of(spread(s))}});
  }

  double probability(size_t place) const {
    return static_cast<double>(softmax(replay_.values.at(i_.of[0]))[place]);
  }

  std::string loss() const {
    const auto letter = static_cast<size_t>(i_.target);
    return fmt::format("{} = −log {} = −log {} = {}", i_.name, subscripted("p", letter),
                       text_of(probability(letter - 1)), text(i_.name));
  }

  std::string loss_back() const {
    const size_t here = at(i_.of[0]);
    const bool right = here + 1 == static_cast<size_t>(i_.target);
    const std::string p = text_of(probability(here));
    return fmt::format("{} = {}{} = {}{}", gradient_name(i_.of[0]), subscripted("p", here + 1),
                       right ? " − 1" : "", p, right ? " − 1 = " + gradient_text(i_.of[0]) : "");
  }

  const SmallTape::Instruction& i_;
  const SmallReplay& replay_;
  size_t place_;
  const Words& words_;
};

}  // namespace

std::vector<float> softmax(const SmallValue& scores) {
  std::vector<float> shares;
  const auto columns = static_cast<std::ptrdiff_t>(scores.columns);
  for (auto row = scores.values.begin(); row != scores.values.end(); row += columns) {
    const auto part = [most = *std::max_element(row, row + columns)](float score) {
      return std::exp(static_cast<double>(score - most));
    };
    double sum = 0;
    for (auto at = row; at != row + columns; ++at) sum += part(*at);
    for (auto at = row; at != row + columns; ++at) shares.push_back(static_cast<float>(part(*at) / sum));
  }
  return shares;
}

std::string subscripted(const std::string& name, size_t place) {
  if (place == 0) return name;
  static constexpr const char* kDigits[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string out = name;
  for (const char digit : std::to_string(place)) out += kDigits[digit - '0'];
  return out;
}

std::string followed(const SmallTape& tape, const SmallReplay& replay, size_t line, size_t place,
                     const Words& words) {
  const SmallReplay::Line& now = replay.lines.at(line);
  const auto it = std::find_if(tape.instructions.begin(), tape.instructions.end(),
                               [&](const auto& i) { return i.name == now.instruction; });
  if (it == tape.instructions.end() || place == 0) return "";
  const Follower follower(*it, replay, place, words);
  return now.backward ? follower.backward() : follower.forward();
}

}  // namespace normscope::course
