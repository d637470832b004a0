#include "engine/model/fixture.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/core/error.h"

namespace normscope {
namespace {

using nlohmann::json;

json parse(const SafetensorsFile& file, const std::string& key) {
  json value = json::parse(file.metadata(key), nullptr, false);
  if (value.is_discarded()) fail(file.path(), "metadata '{}' is not JSON: expected a fixture", key);
  return value;
}

template <typename T>
T field(const SafetensorsFile& file, const json& object, const char* key) {
  try {
    return object.at(key).get<T>();
  } catch (const json::exception&) {
    fail(file.path(), "the fixture's metadata lacks '{}' or holds another type there", key);
  }
}

double number(const SafetensorsFile& file, const std::string& key) {
  const json value = parse(file, key);
  if (!value.is_number()) fail(file.path(), "metadata '{}' is {}: expected a number", key, value.dump());
  return value.get<double>();
}

std::vector<Placement> placements(const SafetensorsFile& file, const json& value, int32_t layers) {
  if (value.is_string())
    return std::vector(static_cast<size_t>(layers), placement_from(value.get<std::string>()));
  std::vector<Placement> list;
  if (value.is_array())
    for (const json& name : value)
      list.push_back(placement_from(name.is_string() ? name.get<std::string>() : "?"));
  if (static_cast<int32_t>(list.size()) != layers)
    fail(file.path(), "placement has {} names for {} layers: expected one a layer", list.size(), layers);
  return list;
}

Architecture architecture(const SafetensorsFile& file, const json& config) {
  const std::string arch = field<std::string>(file, config, "arch");
  if (arch == "dec") return Architecture::Decoder;
  if (arch == "enc") return Architecture::Encoder;
  if (arch == "encdec") return Architecture::EncoderDecoder;
  fail(file.path(), "'{}' is not an architecture: expected dec, enc or encdec", arch);
}

/// The norms of the stack are those of its last layer's placement: a final norm behind pre and sandwich.
StackWiring wire(const std::vector<Placement>& placement, NormKind norm, const StackContext& context) {
  StackWiring stack;
  for (size_t l = 0; l < placement.size(); ++l)
    stack.layers.push_back(preset_layer(placement[l], norm, context, static_cast<int>(l) + 1));
  const PlacementRow& last = row_of(placement.back());
  if (last.embedding) stack.embedding = norm;
  if (last.final) stack.final = norm;
  if (last.second) stack.second = norm;
  return stack;
}

ModelConfig model_config(const SafetensorsFile& file, const json& c) {
  ModelConfig m;
  m.architecture = architecture(file, c);
  m.layers = field<int32_t>(file, c, "L");
  m.width = field<int32_t>(file, c, "d");
  m.heads = field<int32_t>(file, c, "heads");
  m.feed_forward = field<int32_t>(file, c, "dff");
  m.vocabulary = field<int32_t>(file, c, "vocab");
  m.sequence = field<int32_t>(file, c, "max_len");
  m.tied_output = field<bool>(file, c, "tie");
  m.norm = norm_from(field<std::string>(file, c, "norm"));
  m.positions = field<std::string>(file, c, "pos") == "sin" ? Positions::Sinusoidal : Positions::Learned;
  m.eps = static_cast<float>(number(file, "layer_norm_eps"));
  const double root = std::sqrt(static_cast<double>(m.width)), scale = number(file, "emb_scale");
  if (std::abs(scale - root) > 1e-9 * root)
    fail(file.path(), "emb_scale is {}: expected sqrt(d) = {}", scale, root);
  return m;
}

/// "post", or "mixed" where the layers differ.
std::string placement_text(const std::vector<Placement>& list) {
  for (Placement p : list)
    if (p != list.front()) return "mixed";
  return to_string(list.front());
}

std::string describe(const Fixture& f) {
  const ModelConfig& c = f.config;
  const std::string kind =
      c.architecture == Architecture::Decoder ? "decoder, " + placement_text(f.decoder)
      : c.architecture == Architecture::Encoder
          ? "encoder, " + placement_text(f.encoder)
          : "encoder-decoder, " + placement_text(f.encoder) + " and " + placement_text(f.decoder);
  return fmt::format("{}, {}{}, L={} d={} heads={} V={}", kind, short_name(c.norm),
                     f.key_lengths ? ", padded" : "", c.layers, c.width, c.heads, c.vocabulary);
}

/// gain or bias of a norm in the given place.
std::string norm_part(const std::string& place, char part) {
  return place + (part == 'g' ? ".gain" : ".bias");
}

}  // namespace

Fixture read_fixture(const SafetensorsFile& file) {
  const json c = parse(file, "config"), adam = parse(file, "adam");
  Fixture f;
  f.config = model_config(file, c);
  ModelConfig& m = f.config;
  if (m.layers < 1) fail(file.path(), "L is {}: expected at least 1", m.layers);
  const json placement = field<json>(file, c, "placement");
  const json other =
      c.contains("placement_dec") && !c["placement_dec"].is_null() ? c["placement_dec"] : placement;
  const bool both = m.architecture == Architecture::EncoderDecoder;
  if (m.architecture != Architecture::Decoder) {
    f.encoder = placements(file, placement, m.layers);
    m.encoder = wire(f.encoder, m.norm, context_of(m, false));
  }
  if (m.architecture != Architecture::Encoder) {
    f.decoder = placements(file, both ? other : placement, m.layers);
    m.decoder = wire(f.decoder, m.norm, context_of(m, true));
  }
  validate(m);
  f.batch = static_cast<int32_t>(number(file, "batch"));
  f.length = static_cast<int32_t>(number(file, "length"));
  f.source_length = both ? static_cast<int32_t>(number(file, "source_length")) : 0;
  f.key_lengths = file.contains("input/key_len");
  f.adam_steps = field<int32_t>(file, adam, "steps");
  f.step.lr = field<float>(file, adam, "lr");
  f.step.beta1 = field<float>(file, adam, "beta1");
  f.step.beta2 = field<float>(file, adam, "beta2");
  f.step.eps = field<float>(file, adam, "eps");
  f.step.label_smoothing = field<float>(file, c, "label_smoothing");
  f.description = describe(f);
  return f;
}

std::string Fixture::parameter(const std::string& name) const {
  if (name == "emb") return "emb.tokens";
  if (name == "pos") return "emb.positions";
  if (name == "out") return "out.w";
  // Files of the younger placements use the engine's own names.
  if (name.find('.') != std::string::npos && name.find(".subs.") == std::string::npos &&
      !name.ends_with(".final.g") && !name.ends_with(".final.b"))
    return name;
  const bool both = config.architecture == Architecture::EncoderDecoder,
             in_decoder = name.starts_with("dec.");
  const std::vector<Placement>& placement = in_decoder ? decoder : encoder;
  if ((!in_decoder && !name.starts_with("enc.")) || placement.empty())
    fail("fixture", "'{}' is not a parameter of a {}", name, description);
  const std::string prefix = both ? name.substr(0, 4) : "", rest = name.substr(4);
  if (rest.starts_with("final.")) return norm_part(prefix + "final", rest.back());

  const size_t first = std::string("subs.").size(), dot = rest.find('.', first);
  const std::string digits = dot == std::string::npos ? "" : rest.substr(first, dot - first);
  // Self-attention, cross-attention (in the decoder of an encoder-decoder) and feed-forward take turns.
  const std::vector<const char*> kinds =
      both && in_decoder ? std::vector{"attn", "cross", "ffn"} : std::vector{"attn", "ffn"};
  const size_t count = placement.size() * kinds.size();
  if (!rest.starts_with("subs.") || digits.empty() || digits.size() > 3 ||
      digits.find_first_not_of("0123456789") != std::string::npos || std::stoul(digits) >= count)
    fail("fixture", "'{}' is not a parameter of a {}, which has {} sub-layers in that stack", name,
         description, count);
  const size_t k = std::stoul(digits), layer = k / kinds.size();
  const std::string place = fmt::format("{}L{:02}.{}", prefix, layer + 1, kinds[k % kinds.size()]);
  const bool before = row_of(placement[layer]).sublayer.before != NormKind::None;
  const std::string part = rest.substr(dot + 1);
  if (part.starts_with("f.")) return place + "." + part.substr(2);
  if (part.starts_with("norm.")) return norm_part(place + (before ? ".before" : ".trunk"), part.back());
  if (part.starts_with("norm2.")) return norm_part(place + ".after", part.back());
  if (part == "omega") return place + ".skip";
  if (part == "res") return place + ".branch";
  fail("fixture", "'{}' is not a parameter of a {}", name, description);
}

}  // namespace normscope
