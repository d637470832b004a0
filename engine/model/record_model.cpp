#include "engine/model/record_model.h"

#include "engine/model/convolutions.h"
#include "engine/model/parser.h"

namespace normscope {

ModelValues record_model(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  switch (config.architecture) {
    case Architecture::Decoder:
    case Architecture::Encoder:
    case Architecture::EncoderDecoder:
      break;
    case Architecture::Convolutional:
      return record_convolutions(tape, config, options);
    case Architecture::Parser:
      return record_parser(tape, config, options);
  }
  return record_transformer(tape, config, options);
}

}  // namespace normscope
