// A link: an address or its fragment, in plain text. What is accepted is written and read back.
#include "app/link/link.h"

#include <algorithm>

#include "fuzz.h"

using namespace normscope::link;
using namespace normscope;

FUZZ_TARGET(link) {
  LinkedView view;
  if (!fuzz::accepts([&] { view = read_link(input); })) return;
  // Of a deep model it takes long to find the nearest preset.
  const auto deep = [](const ConfigRun& run) {
    return run.spec.model.layers > 12 || run.spec.model.encoder_layers > 12;
  };
  if (std::ranges::any_of(view.runs, deep)) return;
  std::string fragment;
  if (!fuzz::accepts([&] { fragment = link_fragment(view); })) return;  // longer than a link may be
  const LinkedView back = read_link(fragment);
  fuzz::require(fragment.size() <= kLongestFragment, "a link is longer than a link may be");
  fuzz::require(back.runs.size() == view.runs.size() && back.step == view.step && back.cursor == view.cursor,
                "a link is another one after its way to text and back");
  for (size_t i = 0; i < view.runs.size(); ++i)
    fuzz::require(back.runs[i].edits == view.runs[i].edits, "an edit is lost on the way to text and back");
}
