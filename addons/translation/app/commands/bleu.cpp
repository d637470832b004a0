// normscope bleu says how good translations are beside their references.

#include "addons/translation/training/bleu.h"
#include "app/commands/commands.h"
#include "training/data/text_source.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct BleuOptions {
  std::string translations, references;
};

Exit bleu(const BleuOptions& options) {
  const auto translations = with_exit(Exit::Input, [&] { return read_lines(options.translations); });
  const auto references = with_exit(Exit::Input, [&] { return read_lines(options.references); });
  say("{}\n", to_string(with_exit(Exit::Input, [&] { return corpus_bleu(translations, references); })));
  return Exit::Ok;
}

}  // namespace

void add_bleu(CLI::App& app, Command& command) {
  const auto [sub, options] =
      add_command(app, command, "bleu", "BLEU of translations, as sacreBLEU's 13a computes it", bleu);
  add_value(sub, "translations", options.translations, "FILE", "one a line")->required();
  add_value(sub, "references", options.references, "FILE", "one a line")->required();
}

}  // namespace normscope::commands
