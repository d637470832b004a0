// The inside of a model as JSON and as a picture, and the words that these share.
#include "addons/inside/app/inspected.h"

#include "app/ui/numbers.h"
#include "app/ui/paint.h"
#include "app/ui/widgets.h"
#include "training/io/codec.h"

namespace normscope::inside {
namespace {

using namespace ui;
using nlohmann::json;

json token_of(const Inspection& of, int32_t token) {
  json all = {{"token", token}};
  if (const std::string text = of.text_of(token); !text.empty()) all["text"] = text;
  return all;
}

json tokens_of(const Inspection& of) {
  const Inside& in = of.inside;
  json all = json::array();
  for (size_t t = 0; t < in.tokens.size(); ++t) {
    json one = token_of(of, in.tokens[t]);
    one["target"] = in.targets[t] < 0 ? json(nullptr) : json(in.targets[t]);
    one["loss"] = number_json(in.token_loss[t]);
    one["embedding_norm"] = number_json(in.embedding[t]);
    if (!in.embedding_gradients.empty()) one["embedding_gradient"] = number_json(in.embedding_gradients[t]);
    if (const Inside::LogitAttribution& a = in.attributed; !a.logit.empty()) {
      one["attributed"] = {{"symbol", a.symbol[t]},
                           {"logit", number_json(a.logit[t])},
                           {"embedding", number_json(a.embedding[t])}};
    }
    all.push_back(std::move(one));
  }
  return all;
}

/// With the fewest digits that identify a float; as a double it would have seventeen.
json floats_json(std::span<const float> numbers) {
  json list = json::array();
  for (const float number : numbers)
    list.push_back(std::isfinite(number) ? json::parse(fmt::format("{}", number)) : json(nullptr));
  return list;
}

json own_shares_of(const Inside::Sublayer& s) {
  return floats_json(std::span(s.token_shares).last(s.norms.size()));
}

json sublayers_of(const Inside& in) {
  json all = json::array();
  for (const Inside::Sublayer& s : in.sublayers) {
    all.push_back({{"name", s.name},
                   {"layer", s.layer},
                   {"branch_variance", number_json(s.branch_variance)},
                   {"input_variance", number_json(s.input_variance)},
                   {"beta2", number_json(s.shares.back())},
                   {"beta2_median", number_json(s.token_share)},
                   {"beta2_by_token", own_shares_of(s)},
                   {"shares", list_json(s.shares)},
                   {"token_cosine", number_json(s.token_cosine)},
                   {"layer_cosine", number_json(s.layer_cosine)},
                   {"norms", floats_json(s.norms)}});
    if (!s.gradients.empty()) all.back()["state_gradients"] = floats_json(s.gradients);
    if (!s.attribution.empty()) all.back()["attribution"] = floats_json(s.attribution);
  }
  return all;
}

json layers_of(const Inside& in) {
  json all = json::array();
  for (size_t i = 0; i < in.sublayers.size(); ++i)
    if (i + 1 == in.sublayers.size() || in.sublayers[i + 1].layer != in.sublayers[i].layer)
      all.push_back({{"layer", in.sublayers[i].layer},
                     {"stream_norm", number_json(root_mean_square(in.sublayers[i].norms))}});
  return all;
}

/// Null where no token dominates.
json dominant_json(const Inside& in) {
  const std::optional<Dominant> dominant = dominant_of(in);
  if (!dominant) return nullptr;
  return {{"position", dominant->token + 1},
          {"sublayer", in.sublayers[dominant->sublayer].name},
          {"times", dominant->times}};
}

/// The probabilities as [head][query][key]; the row of a decoder's query ends at its own key.
json attention_of(const Inspection& of) {
  const Inside& in = of.inside;
  json all = json::array();
  for (const Inside::Attention& a : in.attention) {
    const size_t queries = in.tokens.size(), keys = queries;
    json heads = json::array();
    for (size_t at = 0; at < a.probabilities->size(); at += keys) {
      if (at % (queries * keys) == 0) heads.push_back(json::array());
      const size_t seen = of.decoder ? heads.back().size() + 1 : keys;
      heads.back().push_back(floats_json(std::span(*a.probabilities).subspan(at, seen)));
    }
    all.push_back({{"name", a.name},
                   {"layer", a.layer},
                   {"entropy", list_json(a.entropy)},
                   {"logit", list_json(a.logit)},
                   {"first_mass", list_json(a.first_mass)},
                   {"probabilities", std::move(heads)}});
    for (size_t at = 0; at < a.attribution.size(); at += queries)
      all.back()["attribution"].push_back(floats_json(std::span(a.attribution).subspan(at, queries)));
  }
  return all;
}

json lens_of(const Inspection& of) {
  json all = json::array();
  for (const Inside::Lens& lens : of.inside.lens) {
    const size_t guesses = lens.guesses.size() / lens.right.size();
    json tokens = json::array();
    for (size_t t = 0; t < lens.right.size(); ++t) {
      json said = json::array();
      for (const Inside::Guess& guess : std::span(lens.guesses).subspan(t * guesses, guesses)) {
        said.push_back(token_of(of, guess.token));
        said.back()["probability"] = number_json(guess.probability);
      }
      tokens.push_back({{"right", number_json(lens.right[t])}, {"guesses", std::move(said)}});
    }
    all.push_back({{"name", lens.name},
                   {"layer", lens.layer},
                   {"loss", number_json(lens.loss)},
                   {"tokens", std::move(tokens)}});
  }
  return all;
}

json changes_of(const Inspection& of, std::span<const Inside::Change> changes) {
  json all = json::array();
  for (const Inside::Change& change : changes) {
    if (change.token < 0) continue;
    all.push_back(token_of(of, change.token));
    all.back()["nats"] = number_json(change.nats);
  }
  return all;
}

json backward_lens_of(const Inspection& of) {
  json all = json::array();
  for (const Inside::BackwardLens& lens : of.inside.backward_lens) {
    const size_t tokens = of.inside.tokens.size(), each = lens.raised.size() / tokens;
    json by_token = json::array();
    const auto at = [&](const std::vector<Inside::Change>& changes, size_t t) {
      return changes_of(of, std::span(changes).subspan(t * each, each));
    };
    for (size_t t = 0; t < tokens; ++t)
      by_token.push_back(
          {{"asked", at(lens.asked, t)}, {"raised", at(lens.raised, t)}, {"lowered", at(lens.lowered, t)}});
    all.push_back({{"name", lens.name}, {"layer", lens.layer}, {"tokens", std::move(by_token)}});
  }
  return all;
}

/// Names the placement, and in addition norms on the embedding and of q and k.
std::string placement_words(const ModelConfig& model) {
  constexpr const char* kBeside[] = {"", " with a norm on the embedding", " with norms of q and k",
                                     " with norms on the embedding, and of q and k"};
  for (const int beside : {0, 1, 2, 3}) {
    StackWiring stack = model.stack();
    if (beside & 1) stack.embedding = {};
    for (LayerWiring& layer : stack.layers) {
      if (!(beside & 2)) break;
      for (Inner* inner : {&layer.attention.inner, &layer.cross.inner}) {  // a single stack has both alike
        inner->query = inner->key = {};
        inner->across_heads = false;
      }
    }
    const bool decoder = model.architecture != Architecture::Encoder;
    const Placement placement = placement_of(stack, context_of(model, decoder));
    if (placement != Placement::Custom) return std::string(to_string(placement)) + kBeside[beside];
  }
  return to_string(Placement::Custom);
}

constexpr float kCellWidth = 46, kCellHeight = 20, kTop = 118, kMaxNames = 220, kMinWidth = 560;
constexpr TextStyle kHeadline{Face::Bold, type::run_name}, kPlain{Face::Sans, type::body},
    kCellText{Face::Mono, type::tick};

struct LayerColumn {
  std::string name;
  const std::vector<float>* norms;
};

std::vector<LayerColumn> columns_of(const Inside& in) {
  std::vector<LayerColumn> columns{{"emb.", &in.embedding}};
  for (size_t i = 0; i < in.sublayers.size(); ++i)
    if (i + 1 == in.sublayers.size() || in.sublayers[i + 1].layer != in.sublayers[i].layer)
      columns.push_back({fmt::format("L{:02}", in.sublayers[i].layer), &in.sublayers[i].norms});
  return columns;
}

class NormsPicture {
 public:
  NormsPicture(Painter& painter, const Theme& theme, const Inspection& of)
      : p_(painter), t_(theme), of_(of), columns_(columns_of(of.inside)) {
    for (const LayerColumn& column : columns_)
      for (const float norm : *column.norms)
        if (norm > 0 && std::isfinite(norm)) {
          low_ = std::min(low_, norm);
          high_ = std::max(high_, norm);
        }
    float widest = p_.text_width(kPlain, of_.unit);
    for (size_t t = 0; t < rows(); ++t) widest = std::max(widest, p_.text_width(kCellText, name_of(t)));
    left_ = space::pad + std::min(widest, kMaxNames) + 8;
  }

  Vec draw(const std::string& title) {
    p_.text({space::pad, 28}, kHeadline, t_.ink, title);
    p_.text(
        {space::pad, 48}, kPlain, t_.ink2,
        fmt::format(
            "‖x‖ of every {} after each layer. Colours are logarithmic, from the shortest to the longest.",
            of_.unit));
    key({space::pad, 60, 160, 12});
    p_.text({space::pad, kTop - 8}, kPlain, t_.ink3, of_.unit);
    p_.text({left_, kTop - 24}, kPlain, t_.ink3, "layer");
    for (size_t c = 0; c < columns_.size(); ++c)
      p_.text({cell(c, 0).centre().x, kTop - 8}, kCellText, t_.ink2, columns_[c].name, Align::Centre);
    for (size_t t = 0; t < rows(); ++t) row(t);
    const Rect last = cell(columns_.size() - 1, rows() - 1);
    return {std::max(last.right() + space::pad, kMinWidth), last.bottom() + space::pad};
  }

 private:
  size_t rows() const { return of_.inside.tokens.size(); }
  std::string name_of(size_t t) const {
    return fmt::format("{}: {}", t + 1, shown_token(of_, of_.inside.tokens[t]));
  }
  Rect cell(size_t column, size_t row) const {
    return {left_ + static_cast<float>(column) * kCellWidth, kTop + static_cast<float>(row) * kCellHeight,
            kCellWidth, kCellHeight};
  }
  float share(float norm) const {
    return high_ > low_ ? std::log(norm / low_) / std::log(high_ / low_) : 0.5f;
  }

  void row(size_t t) {
    const std::string name = name_of(t);
    p_.begin_group(name);
    p_.text_in({space::pad, cell(0, t).y, left_ - space::pad - 8, kCellHeight}, kCellText, t_.ink2, name,
               Align::Right);
    for (size_t c = 0; c < columns_.size(); ++c) {
      const Rect box = cell(c, t).inset(0.5f);
      const float norm = (*columns_[c].norms)[t];
      const bool finite = std::isfinite(norm);
      const Colour fill = finite ? heat_colour(t_, norm > 0 ? share(norm) : 0) : t_.panel;
      p_.fill(box, fill, 2);
      if (!finite) p_.hatch(box, t_.error, 1.7f, 7);
      if (finite) p_.text_in(box, kCellText, ink_on(fill), ui::significant(norm, 3), Align::Centre);
    }
    p_.end_group();
  }

  /// Paints the colours and the lengths at their ends.
  void key(Rect place) {
    if (!(high_ >= low_)) return;
    const float x = p_.text({place.x, place.bottom() - 1}, kCellText, t_.ink2, ui::significant(low_, 3));
    place.x += x + 8;
    colour_scale(p_, place, 40, false, [&](float share) { return heat_colour(t_, share); });
    p_.text({place.right() + 8, place.bottom() - 1}, kCellText, t_.ink2, ui::significant(high_, 3));
  }

  Painter& p_;
  const Theme& t_;
  const Inspection& of_;
  std::vector<LayerColumn> columns_;
  float low_ = std::numeric_limits<float>::infinity(), high_ = 0, left_ = 0;
};

}  // namespace

void put_settings(json& about, const RunSpec& spec) {
  about["vocabulary"] = spec.model.vocabulary;
  for (const char* key :
       {"model.architecture", "model.layers", "model.d_model", "model.heads", "model.kv_heads",
        "model.head_width", "model.feed_forward", "model.norm", "model.placement", "model.activation",
        "model.gated", "model.biases", "model.positions", "model.tied"})
    about[key] = get_field(spec, key);
  if (spec.model.attention.window > 0)
    for (const char* key : {"model.attention_window", "model.attention_pattern"})
      about[key] = get_field(spec, key);
  about["placement"] = placement_words(spec.model);
  if (about["model.placement"] == "custom")
    for (const char* key : {"wiring.embedding", "wiring.L*.attn", "wiring.L*.ffn", "wiring.final"})
      about[key] = get_field(spec, key);
}

double root_mean_square(const std::vector<float>& norms) {
  double sum = 0;
  for (const float norm : norms) sum += static_cast<double>(norm) * norm;
  return std::sqrt(sum / static_cast<double>(norms.size()));
}

std::string shown_token(const Inspection& inspected, int32_t token) {
  const std::string text = inspected.text_of(token);
  if (text.empty()) return std::to_string(token);
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

json json_of(const Inspection& of) {
  const Inside& in = of.inside;
  json all = of.about;
  all["loss"] = number_json(in.loss);
  all["tokens"] = tokens_of(of);
  all["layers"] = layers_of(in);
  all["sublayers"] = sublayers_of(in);
  all["dominant"] = dominant_json(in);
  if (!in.attention.empty()) all["attention"] = attention_of(of);
  if (!in.lens.empty()) all["lens"] = lens_of(of);
  if (!in.backward_lens.empty()) all["backward_lens"] = backward_lens_of(of);
  for (const Inside::LeftOut& l : in.left_out)
    all["left_out"].push_back({{"name", l.name},
                               {"layer", l.layer},
                               {"loss", number_json(l.loss)},
                               {"change", number_json(l.loss - in.loss)}});
  for (const Inside::Gradient& g : in.gradients)
    all["gradients"].push_back({{"name", g.name}, {"layer", g.layer}, {"norm", number_json(g.norm)}});
  return all;
}

std::string norms_svg(const Inspection& inspected) {
  const std::string title = "Length of the states in " + inspected.name;
  return to_svg(title, [&](Painter& p, const Theme& t) { return NormsPicture(p, t, inspected).draw(title); });
}

}  // namespace normscope::inside
