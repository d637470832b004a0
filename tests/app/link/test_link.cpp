// These tests cover links: what is written is read back, in at most 8,000 characters; what comes from outside is
// refused in one line where it is not a link.
#include "app/link/link.h"

#include <algorithm>
#include <random>

#include "engine/support/helpers.h"
#include "training/support/tiny.h"

namespace normscope::fixture {

class RandomSession {
 public:
  explicit RandomSession(unsigned seed) : random_(seed) {}

  // Gives all runs `layers` layers; 0: at random. With `own` every run has a wiring of its own, each norm at random.
  link::LinkedView make(int layers, bool own, int edits) {
    link::LinkedView view;
    const int runs = own ? 4 : 1 + below(4);
    const int depth = layers > 0 ? layers : 1 + below(12), steps = 100 * (3 + below(20));
    view.step = below(steps + 1);
    for (int i = 0; i < runs; ++i) {
      ConfigRun run{static_cast<char>('A' + i),
                    preset_run(one_of({"post", "post-warmup", "pre", "rezero", "sandwich"})),
                    {}};
      set_field(run.spec, "model.layers", std::to_string(depth));
      set_field(run.spec, "train.steps", std::to_string(steps));
      settings(run.spec);
      if (own || below(3) == 0) wire(run.spec);
      for (int n = 0; n < edits && view.step > n; ++n) run.edits.push_back(edit(view.step));
      std::ranges::stable_sort(run.edits, {}, &Edit::step);
      view.runs.push_back(std::move(run));
    }
    look(view);
    return view;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string one_of(const std::vector<std::string>& all) {
    return all[static_cast<size_t>(below(static_cast<int>(all.size())))];
  }
  std::string real(double most) { return fmt::format("{:.6g}", most * (1 + below(1'000'000)) / 1e6); }

  void settings(RunSpec& spec) {
    const std::pair<const char*, std::string> all[] = {
        {"train.lr", real(0.01)},
        {"train.warmup", std::to_string(below(400))},
        {"train.schedule", one_of({"constant", "inverse-sqrt", "linear", "cosine"})},
        {"train.optimizer", one_of({"adam", "adamw", "radam", "sgd", "momentum"})},
        {"train.beta1", real(0.99)},
        {"train.beta2", real(0.99)},
        {"train.weight_decay", real(0.1)},
        {"train.clip", real(2)},
        {"train.label_smoothing", real(0.2)},
        {"train.batch", std::to_string(1 + below(64))},
        {"model.dropout_residual", real(0.3)},
        {"model.norm", one_of({"ln", "rms", "simple", "adanorm", "dyt"})},
        {"model.activation", one_of({"relu", "gelu", "silu"})},
        {"model.heads", one_of({"1", "2", "8"})},
        {"model.feed_forward", std::to_string(16 + below(500))},
        {"model.sequence", std::to_string(8 + 4 * below(30))},
        {"run.seed", std::to_string(below(100000))},
        {"run.name", one_of({"mine", "a & b = 100 % of #1 + more", "pre\xe2\x80\x93post, \xc3\xa4", "x"})}};
    set_field(spec, "train.decay_end", std::to_string(1000 + below(5000)));  // behind every warm-up
    for (const auto& [key, value] : all)
      if (below(3) == 0) set_field(spec, key, value);
  }

  void wire(RunSpec& spec) {
    StackWiring& stack = spec.model.stack();
    for (LayerWiring& layer : stack.layers)
      for (Wiring* wiring : {&layer.attention, &layer.feed_forward})
        for (WiredNorm* norm : {&wiring->before, &wiring->after, &wiring->stream}) *norm = kind();
    stack.final = kind();
    complete(spec);
  }
  NormKind kind() {
    return norm_from(
        one_of({"none", "ln", "simple", "rms", "detach", "detach-mean", "detach-var", "adanorm", "dyt"}));
  }

  Edit edit(int last) {
    const int step = 1 + below(last);
    switch (below(4)) {
      case 0:
        return {step, "train.warmup", std::to_string(below(400))};
      case 1:
        return {step, "train.clip", real(3)};
      case 2:
        return {step, fmt::format("wiring.L01.{}", one_of({"attn", "ffn"})),
                one_of({"stream=ln", "before=rms", "none"})};
      default:
        return {step, "train.lr", real(0.01)};
    }
  }

  void lesson(link::LinkedView& view) {
    view.lesson = "warm-up:compare";
    if (below(2) == 0) view.figure = "losses";
    const int kind = below(3);
    if (kind == 1) view.answer.value = 0.25 * below(1000);
    if (kind == 2) view.answer.order = {"pre", "post-warmup", "post"};
  }

  void look(link::LinkedView& view) {
    view.dark = below(2) == 0;
    view.screen = static_cast<Screen>(below(static_cast<int>(kScreens)));
    if (view.screen == Screen::Lessons && below(2) == 0) lesson(view);
    if (view.step > 0 && below(2) == 0) view.cursor = below(view.step);
    view.shown = view.runs[static_cast<size_t>(below(static_cast<int>(view.runs.size())))].letter;
    for (int step = 10; step < view.step && below(3) != 0; step += 1 + below(90))
      view.bookmarks.push_back(step);
  }

  std::mt19937 random_;
};

// Whether the runs differ in nothing that training reads.
inline bool trains_alike(const ConfigRun& a, const ConfigRun& b) {
  if (a.letter != b.letter || a.edits != b.edits || a.spec.name != b.spec.name) return false;
  const std::vector<Edit> differ = edits_between(a.spec, b.spec, 0);
  return std::ranges::all_of(
      differ, [&](const Edit& edit) { return a.edits.empty() && !unused_reason(a.spec, edit.key).empty(); });
}

}  // namespace normscope::fixture

using namespace normscope;
using namespace link;
using fixture::trains_alike;

namespace {

LinkedView linked_runs(std::vector<RunSpec> specs) {
  LinkedView view;
  for (RunSpec& spec : specs)
    view.runs.push_back({static_cast<char>('A' + view.runs.size()), std::move(spec), {}});
  return view;
}

// Checks that a view is read back from its link, and returns the fragment.
std::string check_link(const LinkedView& view) {
  const std::string fragment = link_fragment(view);
  INFO(fragment);
  CHECK(fragment.size() <= kLongestFragment);
  CHECK(fragment.find_first_not_of(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._:=,/@&+%") == fragment.npos);
  const LinkedView back = read_link(fragment);
  REQUIRE(back.runs.size() == view.runs.size());
  for (size_t i = 0; i < view.runs.size(); ++i) CHECK(trains_alike(view.runs[i], back.runs[i]));
  CHECK(back.step == view.step);
  CHECK(back.instant == view.instant);
  CHECK(back.cursor == view.cursor);
  CHECK(back.screen == view.screen);
  CHECK(back.lesson == view.lesson);
  CHECK(back.figure == view.figure);
  CHECK(back.answer == view.answer);
  CHECK(back.settings == view.settings);
  CHECK(back.dark == view.dark);
  CHECK(back.shown == view.shown);
  CHECK(back.bookmarks == view.bookmarks);
  return fragment;
}

/// Makes a hybrid: the chosen layers as Pre-LN has them, and its final norm.
void put_pre(RunSpec& spec, bool (*chosen)(size_t layer, size_t count)) {
  const StackWiring pre = preset_run("pre").model.stack();
  StackWiring& stack = spec.model.stack();
  for (size_t l = 0; l < stack.layers.size(); ++l)
    if (chosen(l, stack.layers.size())) stack.layers[l] = pre.layers[l];
  stack.final = pre.final;
  complete(spec);
}

// The line that says why a text is not a link; empty: it was taken.
std::string why_no_link(const std::string& text) {
  return test::error_of([&] { read_link(text); }, "");
}

}  // namespace

TEST_CASE("the default comparison at step 0 is the shortest link, and links read as they are meant") {
  CHECK(link_fragment(linked_runs(default_comparison())) == "1&end");
  LinkedView view = linked_runs(default_comparison());
  view.runs[1].edits = {{214, "train.lr", "0.001"}};
  set_field(view.runs[2].spec, "train.warmup", "50");
  view.step = 300;
  view.cursor = 214;
  view.dark = true;
  view.shown = 'C';
  view.bookmarks = {12, 40};
  CHECK(
      check_link(view) ==
      "1&set=C:train.warmup=50&edit=B:214:train.lr=0.001&step=300&cursor=214&theme=dark&shown=C&marks=12,40&end");
  const LinkedView address = read_link("https://example.org/lab?x=1#1&run=A=pre&step=7&end\n");
  CHECK(address.runs.size() == 1);
  CHECK(address.runs[0].spec == preset_run("pre"));
  CHECK(address.step == 7);
}

TEST_CASE("a link of instant runs says so in place of a step") {
  LinkedView view = linked_runs({preset_run("post")});
  view.instant = true;
  CHECK(test::contains(check_link(view), "&instant=on&"));
}

TEST_CASE("runs are linked to their end, small ones as such, and too many settings not at all") {
  LinkedView view = linked_runs(default_comparison());
  const LinkedView back = read_link(fragment_of_runs(view.runs, false));
  CHECK(back.step == view.runs[0].spec.train.steps);
  REQUIRE(back.runs.size() == view.runs.size());
  CHECK(back.runs[1].spec == view.runs[1].spec);
  CHECK(read_link(fragment_of_runs(view.runs, true)).instant);
  for (int32_t step = 1; step < 2000; ++step) view.runs[0].edits.push_back({step, "train.lr", "0.001"});
  CHECK(fragment_of_runs(view.runs, false).empty());
}

TEST_CASE("links of every preset, every placement and the other architectures give them back") {
  for (const std::string& name : preset_names()) {
    INFO(name);
    check_link(linked_runs({preset_run(name)}));
  }
  for (const std::string_view architecture : architecture_names())
    check_link(linked_runs(comparison_of(architecture)));
  for (const Placement placement : placements()) {
    check_link(linked_runs({test::with_fields({}, {{"model.placement", to_string(placement)}})}));
  }
}

TEST_CASE("links of hybrid wirings, forks and skipped letters give them back") {
  LinkedView view = linked_runs(default_comparison());
  view.step = 250;
  put_pre(view.runs[0].spec, [](size_t layer, size_t count) { return 2 * layer >= count; });
  view.runs[2].letter = 'D';
  RunSpec moved = view.runs[2].spec;
  for (LayerWiring& layer : moved.model.stack().layers)
    std::swap(layer.attention.before, layer.attention.stream);
  complete(moved);
  view.runs[2].edits = edits_between(view.runs[2].spec, moved, 101);
  REQUIRE(view.runs[2].edits.size() >= 6);
  check_link(view);
  check_link(
      linked_runs({test::with_fields(preset_run("pre"), {{"model.architecture", "encoder-decoder"},
                                                         {"data.name", "translation"},
                                                         {"wiring.dec.L02.cross", "before=rms q=ln"}})}));
}

TEST_CASE("any session of an ordinary depth takes at most 8,000 characters") {
  size_t longest = 0;
  for (unsigned seed = 1; seed <= 24; ++seed) {
    INFO("seed " << seed);
    const bool own = seed % 4 == 0;  // four runs of six layers, each with its own wiring, and twelve edits
    longest = std::max(longest,
                       check_link(fixture::RandomSession(seed).make(own ? 6 : 0, own, own ? 12 : 5)).size());
  }
  CHECK(longest > 4000);  // they were not small ones
}

TEST_CASE("a session that does not fit is refused with what takes most of it") {
  LinkedView view = linked_runs({preset_run("post")});
  set_field(view.runs[0].spec, "train.steps", "100000");
  view.step = 100000;
  for (int step = 1; step < 3000; ++step)
    view.runs[0].edits.push_back({step, "train.lr", fmt::format("0.00{}", (step * 7919) % 100003)});
  try {
    link_fragment(view);
    FAIL("a link of 3,000 edits");
  } catch (const Error& error) {
    const std::string said = error.what();
    INFO(said);
    CHECK(test::contains(said, "2999 edits"));
    CHECK(test::contains(said, "at most 8000; save the configuration instead"));
    CHECK_FALSE(test::contains(said, "\n"));
  }
}

TEST_CASE("own files are named and not carried: whoever opens the link has to bring them") {
  LinkedView view = linked_runs({preset_run("pre"), preset_run("post")});
  for (ConfigRun& run : view.runs) set_field(run.spec, "data.text", "/home/me/diary/book.txt");
  const std::string fragment = link_fragment(view);
  CHECK_FALSE(test::contains(fragment, "diary"));
  LinkedView back = read_link(fragment);
  REQUIRE(back.needs.size() == 1);
  CHECK(back.needs[0] == std::pair<std::string, std::string>("data.text", "book.txt"));
  CHECK(back.runs[0].spec.data.name == "text");
  CHECK(back.runs[0].spec.data.text_path.empty());
  CHECK(needed_words(back) == "it needs your text book.txt, which it does not carry");
  CHECK_THROWS_AS(require_needed(back, back.runs), Error);
  for (ConfigRun& run : back.runs) set_field(run.spec, "data.text", "book.txt");
  CHECK_NOTHROW(require_needed(back, back.runs));
  CHECK(needed_words(read_link("1&end")).empty());
}

TEST_CASE("what is too long for a link is refused") {
  CHECK(test::contains(why_no_link("1&" + std::string(9000, 'a')), "at most 8192"));
}

TEST_CASE("a prediction in a link is of few numbers and names, and stands beside its lesson") {
  const std::string lesson = "1&screen=lessons:warm-up:predict";
  CHECK(read_link(lesson + "&lesson.order=a,b-2&lesson.figure=x&end").answer.order ==
        std::vector<std::string>{"a", "b-2"});
  std::string many = "a";
  for (int i = 0; i < 600; ++i) many += ",a";
  CHECK(test::contains(why_no_link(lesson + "&lesson.order=" + many + "&end"), "more than 512 parts"));
}

TEST_CASE("a link that was cut or mistyped is refused or another link, and never does harm") {
  LinkedView view = linked_runs(default_comparison());
  view.step = 200;
  put_pre(view.runs[0].spec, [](size_t layer, size_t) { return layer % 2 == 1; });
  const std::string plain = link_fragment(view);
  for (size_t length = 0; length < plain.size(); ++length) {
    INFO(plain.substr(0, length));
    CHECK_FALSE(why_no_link(plain.substr(0, length)).empty());
  }
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    std::string changed = plain;
    for (int n = 0; n < 3; ++n) changed[random() % changed.size()] = static_cast<char>(random() % 256);
    INFO(changed);
    CHECK_FALSE(test::contains(why_no_link(changed), "\n"));
  }
}
