// See blocks.h.
#include "engine/model/blocks.h"

#include "engine/ops/ops.h"
#include "engine/tape/store.h"

namespace normscope {

ValueId record_parameter(Tape& tape, const std::string& name, Shape shape, Init init, int32_t layer,
                         bool trainable) {
  tape.store().declare(name, shape, init, trainable, layer);
  return tape.parameter(name);
}

ValueId record_norm(Tape& tape, const ModelConfig& config, const std::string& name, NormKind kind, ValueId x,
                    int32_t layer, int32_t heads) {
  if (kind == NormKind::None) return x;
  const int64_t D = tape.shape(x).cols() / heads;
  const auto parameter = [&](bool has, const char* part, int64_t size, double start) {
    const Init init = start == 0 ? Init{} : Init{Init::Kind::Constant, start};
    return has ? record_parameter(tape, name + part, {size}, init, layer) : kNone;
  };
  const ValueId gain = parameter(has_gain(kind), ".gain", D, 1);
  const ValueId bias = parameter(has_bias(kind), ".bias", D, 0);
  const ValueId alpha = parameter(has_alpha(kind), ".alpha", 1, static_cast<double>(config.dyt_alpha));
  const NormExtras extras{.alpha = alpha, .scale = config.adanorm_scale, .slope = config.adanorm_slope};
  return layer_norm(tape, name, kind, x, gain, bias, config.eps, heads, extras);
}

ValueId record_activation(Tape& tape, const ModelConfig& config, const std::string& name, ValueId x) {
  using Record = ValueId (*)(Tape&, const std::string&, ValueId);
  static constexpr Record kRecord[] = {
#define ACTIVATION(Name, op) op,
#include "engine/model/activations.def"
#undef ACTIVATION
  };
  return kRecord[static_cast<size_t>(config.activation)](tape, name, x);
}

}  // namespace normscope
