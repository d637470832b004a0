// normscope train --tensorboard writes the numbers of its log for TensorBoard too.
#include "addons/recorded/training/event_file.h"
#include "app/commands/run_log.h"

namespace normscope::commands {

const LogForm kTensorBoardLog{
    .flag = "--tensorboard",
    .help = "the numbers of the log as TensorBoard reads them; with --resume it goes on",
    .file = "events.out.tfevents.normscope",
    .whole = records::end_of_events,
    .begin = records::first_event,
    .record = records::event_of};

}  // namespace normscope::commands
