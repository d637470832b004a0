// `PlainParameters` holds the parameters of app/bench/plain.h: the store's values, copied, with gradients and moments
// of zeros. It has a file of its own because nothing of the standard library may be compiled for one instruction set
// alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/bench/stepper.h"

namespace normscope::bench {

struct Parameter {
  float *value, *gradient, *m, *v;
  size_t size;
};

/// `Cursor` hands out the parameters in the order of the model.
struct Cursor {
  const Parameter* next;
  Parameter take() { return *next++; }
};

/// `PlainParameters` keeps the decoder's order: embedding, layer by layer, final norm, output. It pads out.w with
/// columns of zeros up to a whole vector of sixteen.
class PlainParameters {
 public:
  PlainParameters(const Model& model, const Store& store);
  const Parameter* data() const { return all_.data(); }

 private:
  void add(const Store& store, const std::string& name, int64_t padded = 0);

  std::vector<std::vector<float>> memory_;
  std::vector<Parameter> all_;
};

}  // namespace normscope::bench
