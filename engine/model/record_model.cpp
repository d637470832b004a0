#include "engine/model/record_model.h"

#include "engine/model/convolutions.h"

namespace normscope {

ModelValues record_model(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  return config.architecture == Architecture::Convolutional ? record_convolutions(tape, config, options)
                                                            : record_transformer(tape, config, options);
}

}  // namespace normscope
