// Recorders are Python code that records a training run elsewhere as a log of ours, to be copied beside the training
// script.
#pragma once

namespace normscope::records {

extern const char* const kTorchRecorder;
extern const char* const kJaxRecorder;

}  // namespace normscope::records
