// normscope bleu says how good translations are beside their references.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/commands/commands.h"
#include "training/data/tsv.h"
#include "training/text/bleu.h"

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
  const auto options = std::make_shared<BleuOptions>();
  CLI::App& sub = *app.add_subcommand("bleu", "BLEU of translations, as sacreBLEU's 13a computes it");
  sub.footer(kFooter);
  sub.add_option("translations", options->translations, "one a line")->type_name("FILE")->required();
  sub.add_option("references", options->references, "one a line")->type_name("FILE")->required();
  sub.callback([options, &command] { command = [options] { return bleu(*options); }; });
}

}  // namespace normscope::commands
