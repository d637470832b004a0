// These tests cover placements that are added at run time: files of them, what is offered, and that nothing that is
// kept depends on them.
#include <algorithm>

#include "engine/model/residual.h"
#include "engine/support/named_placements.h"
#include "training/files/config_file.h"
#include "training/files/placement_file.h"
#include "training/support/small_runs.h"

using namespace normscope;
using namespace normscope::test;

namespace {

/// Takes what a test added out again.
struct Forgetting {
  ~Forgetting() { forget_added_placements(); }
};

constexpr const char* kMine = R"toml(name = "mine"
label = "Mine"
formula = "N(x + f(N(x)))"
source = "by hand"
sublayer = "before=ln stream=ln q=ln"
feed_forward = "before=ln after=ln"
early = "stream=ln"
early_layers = "quarter"
skip = "sublayers"
final = true
[layers]
L03.attn = "stream=ln skip=1.5"
)toml";

Placement add(const std::string& text) { return offer(parse_placement(text, "mine.toml")); }

StackWiring read_at(const std::string& text, const StackContext& context,
                    NormKind norm = NormKind::LayerNorm) {
  const PlacementFile file = parse_placement(text, "mine.toml");
  return preset_stack(file.row(), norm, context);
}

std::string wiring(const StackWiring& stack, int layer, Wiring LayerWiring::*part) {
  return to_string(stack.layers[static_cast<size_t>(layer) - 1].*part);
}

}  // namespace

TEST_CASE("placement file: each key wires what it says, at every depth") {
  for (const int layers : {4, 12}) {
    const StackWiring stack = read_at(kMine, {true, layers, 0}, NormKind::Rms);
    INFO(layers);
    const std::string skip = fmt::format(" skip={}", 2 * layers);
    CHECK(wiring(stack, 1, &LayerWiring::attention) == "stream=rms" + skip);
    CHECK(wiring(stack, 1, &LayerWiring::feed_forward) == "stream=rms" + skip);
    CHECK(wiring(stack, layers, &LayerWiring::attention) == "before=rms q=rms stream=rms" + skip);
    CHECK(wiring(stack, layers, &LayerWiring::feed_forward) == "before=rms after=rms");
    CHECK(wiring(stack, 3, &LayerWiring::attention) == "stream=rms skip=1.5");
    CHECK(stack.layers[2].cross == stack.layers[2].attention);
    CHECK((stack.final == NormKind::Rms && stack.embedding == NormKind::None));
  }
  const StackWiring two = read_at(
      "name = \"a\"\nsublayer = \"before=ln\"\nearly = \"stream=ln\"\nearly_layers = 2\n"
      "cross = \"after=rms\"\ngain = 0.5\n",
      {true, 3, 3});
  CHECK(wiring(two, 2, &LayerWiring::attention) == "stream=ln gain=0.5");
  CHECK(wiring(two, 3, &LayerWiring::attention) == "before=ln gain=0.5");
  CHECK(wiring(two, 3, &LayerWiring::cross) == "after=rms");  // a kind of its own stays
}

TEST_CASE("placement file: several streams are a word of it") {
  const char* const text =
      "name = \"a\"\nsublayer = \"before=ln after=ln\"\nfinal = true\nstreams = \"3 learned\"\n";
  if (stack_slots().empty()) return;
  const StackContext context{true, 5, 0};
  const StackWiring stack = read_at(text, context);
  CHECK(words_at(stack, "streams") == "3 learned");
  CHECK(test::contains(placement_text("b", "", stack, NormKind::LayerNorm, context),
                       "streams = \"3 learned\""));
  const Forgetting forgetting;
  const Placement mine = add(text);
  CHECK(preset_stack(mine, NormKind::LayerNorm, context) == stack);
  CHECK(placement_of(stack, context) == mine);
}

TEST_CASE(
    "placement file: every placement of placements.def is written and read back the same, at other depths too") {
  for (const StackContext context : {StackContext{true, 6, 0}, {false, 6, 4}, {true, 6, 6}})
    for (const Placement p : kPresets)
      for (const NormKind norm : {NormKind::LayerNorm, NormKind::Rms}) {
        INFO(to_string(p));
        const std::string text = placement_text("mine", "", preset_stack(p, norm, context), norm, context);
        INFO(text);
        CHECK(read_at(text, context, norm) == preset_stack(p, norm, context));
        StackContext deep = context;
        deep.layers = 12;
        const bool by_layer = contains(text, "[layers]");
        const bool by_number = contains(text, "gain=") || contains(text, "skip=");
        if (!by_layer && !by_number) CHECK(read_at(text, deep, norm) == preset_stack(p, norm, deep));
      }
  const StackContext alone{true, 6, 0}, deep{true, 18, 0};
  for (const Placement p :
       {Placement::DeepNorm, Placement::SubLN, Placement::LayerNormScaling, Placement::Keel}) {
    INFO(label(p));  // their numbers are written as rules
    const std::string text =
        placement_text("mine", "", preset_stack(p, NormKind::LayerNorm, alone), NormKind::LayerNorm, alone);
    CHECK(read_at(text, deep) == preset_stack(p, NormKind::LayerNorm, deep));
  }
}

TEST_CASE(
    "placement file: what was dragged stands there again at another depth, and its layer where it was") {
  const StackContext context{true, 6, 0};
  StackWiring dragged = preset_stack(Placement::Pre, NormKind::LayerNorm, context);
  dragged.layers[2].attention = dragged.layers[2].cross = wiring_from("stream=ln");
  dragged.layers[4].feed_forward = wiring_from("none");
  const std::string text = placement_text("mine", "", dragged, NormKind::LayerNorm, context);
  CHECK(read_at(text, context) == dragged);
  StackWiring deep = preset_stack(Placement::Pre, NormKind::LayerNorm, {true, 8, 0});
  deep.layers[2].attention = deep.layers[2].cross = wiring_from("stream=ln");
  deep.layers[4].feed_forward = wiring_from("none");
  CHECK(read_at(text, {true, 8, 0}) == deep);
  CHECK(contains(text, "formula = \"x + f(N(x))\""));
  for (const Placement ngpt : known({"ngpt"})) {
    StackWiring sphere = preset_stack(ngpt, NormKind::LayerNorm, context);
    sphere.layers[1].feed_forward.after = NormKind::None;
    const std::string own = placement_text("mine", "", sphere, NormKind::LayerNorm, context);
    CHECK(contains(own, "norm = \"rms-simple\""));  // the stack's own kind, whatever the model's is
    CHECK(contains(own, "formula = \"N((1 − α)⊙x + α⊙N(f(x)))\""));
    CHECK(read_at(own, context) == sphere);
    CHECK(read_at(own, context, NormKind::Rms) == sphere);
  }
  dragged.final = NormKind::Rms;
  CHECK(
      contains(error_of([&] { placement_text("mine", "", dragged, NormKind::LayerNorm, context); }), "kind"));
}

TEST_CASE("placement file: a scale of one is no rule that happens to be one in a model of one layer") {
  const StackContext one{true, 1, 0}, deep{true, 4, 0};
  const std::string text = placement_text("mine", "", preset_stack(Placement::Pre, NormKind::LayerNorm, one),
                                          NormKind::LayerNorm, one);
  CHECK(read_at(text, deep) == preset_stack(Placement::Pre, NormKind::LayerNorm, deep));
}

TEST_CASE("added placements: one is offered, found, filled in and recognised as one of the program is") {
  const Forgetting after;
  const Placement mine = add(kMine);
  CHECK(is_added(mine));
  CHECK(placements().size() == std::size(kPresets) + 1);
  CHECK(placement_from("mine") == mine);
  CHECK(std::string(label(mine)) == "Mine");
  CHECK(has_norms(mine));
  CHECK(add(kMine) == mine);  // the same again
  CHECK(contains(error_of([] { add(std::string(kMine) + "L04.ffn = \"none\"\n"); }),
                 "mine.toml:1: [name] 'mine' is taken"));
  for (const char* key : {"model.placement", "model.encoder_placement"}) {
    const std::vector<std::string_view> choices = choices_of(*find_field(key));
    CHECK(std::ranges::find(choices, "mine") != choices.end());
  }
  RunSpec spec = preset_run("mine");
  CHECK(get_field(spec, "model.placement") == "mine");
  CHECK(default_name(spec) == "Mine, no warm-up");
  set_field(spec, "model.layers", "9");  // stays the placement, like one of the program
  CHECK(get_field(spec, "model.placement") == "mine");
  CHECK(offered_presets().back() == "mine");
  // One of placements.def comes first where both have the wiring.
  add("name = \"like-post\"\nsublayer = \"stream=ln\"\n");
  CHECK(get_field(preset_run("like-post"), "model.placement") == "post");
  const PlacementRow& row = row_of(mine);
  forget_added_placements();
  CHECK(std::string(row.name) == "mine");
  CHECK_THROWS_AS(placement_from("mine"), Error);
}

TEST_CASE(
    "added placements: two of one name are one where all their rules are, and else the second is refused") {
  const Forgetting after;
  const std::string text = "name = \"b\"\nsublayer = \"before=ln\"\n";
  for (const char* number : {"gain", "pre_scale", "skip", "branch"}) {
    forget_added_placements();
    const std::string one = text + number + " = \"deepnorm-beta\"\n";
    CHECK(add(one) == add(one));
    CHECK(contains(error_of([&] { add(text + number + " = \"subln-gain\"\n"); }), "'b' is taken"));
  }
}

TEST_CASE("added placements: a kept specification is the same where the file is not") {
  for (const char* architecture : {"decoder", "encoder", "encoder-decoder"}) {
    INFO(architecture);
    const Forgetting after;
    add(kMine);
    RunSpec spec = with_fields({}, {{"model.architecture", architecture}});
    const bool both = spec.model.architecture == Architecture::EncoderDecoder;
    if (both) set_field(spec, "data.name", "translation");
    set_field(spec, "model.placement", "mine");
    spec.name = "kept";
    const StackWiring stack = spec.model.stack(), encoder = spec.model.encoder;
    const auto values = field_values(spec);
    const std::string written = write_config(std::vector<ConfigRun>{{'A', spec, {}}});
    CHECK_FALSE(contains(written, "\"mine\""));
    forget_added_placements();
    RunSpec read;
    for (const auto& [key, value] : values) set_field(read, key, value);
    CHECK(read.model.stack() == stack);
    if (both) CHECK(read.model.encoder == encoder);
    const std::vector<ConfigRun> runs = parse_config(written, "written.toml");
    CHECK(runs[0].spec.model.stack() == stack);
    if (both) CHECK(runs[0].spec.model.encoder == encoder);
    CHECK(write_config(runs) == written);
  }
}

TEST_CASE("added placements: edits do the same where the file is not, depths that it fills included") {
  const Forgetting after;
  add(kMine);
  RunSpec from = tiny_spec("post", 20);
  const std::vector<Edit> asked{{3, "model.placement", "mine"},
                                {5, "model.layers", "4"},
                                {6, "train.lr", "0.001"},
                                {8, "model.placement", "pre"},
                                {9, "model.layers", "3"}};
  const std::vector<Edit> kept = portable_edits(from, asked);
  const auto play = [&](const std::vector<Edit>& edits, int32_t to) {
    RunSpec spec = from;
    for (const Edit& edit : edits)
      if (edit.step <= to) set_field(spec, edit.key, edit.value);
    return spec;
  };
  std::vector<RunSpec> here;
  for (int32_t step = 1; step < 10; ++step) here.push_back(play(asked, step));
  const std::vector<ConfigRun> runs =
      parse_config(write_config(std::vector<ConfigRun>{{'A', from, asked}}), "kept.toml");
  CHECK(runs[0].edits == kept);  // a configuration that names it is read as wiring
  RunSpec forked = with_fields(from, {{"model.placement", "mine"}});
  const std::vector<Edit> between = edits_between(from, forked, 4);
  const StackWiring mine = forked.model.stack();
  RunSpec deeper = with_fields(forked, {{"model.layers", "5"}});
  const std::vector<Edit> longer = edits_between(forked, deeper, 4);
  const StackWiring five = deeper.model.stack();
  for (const std::vector<Edit>* edits : {&kept, &between, &longer})
    for (const Edit& edit : *edits) CHECK(edit.value != "mine");
  forget_added_placements();
  for (int32_t step = 1; step < 10; ++step) {
    INFO(step);
    CHECK(play(kept, step).model.stack() == here[static_cast<size_t>(step) - 1].model.stack());
  }
  RunSpec back = from;
  for (const Edit& edit : between) set_field(back, edit.key, edit.value);
  CHECK(back.model.stack() == mine);
  for (const Edit& edit : longer) set_field(back, edit.key, edit.value);
  CHECK(back.model.stack() == five);
}

TEST_CASE("added placements: a saved run with such an edit goes on where the file is not") {
  const Forgetting after;
  const Folder folder;
  add(kMine);
  RunSpec spec = with_fields(tiny_spec("post", 20), {{"model.placement", "mine"}});
  const auto run = make_run(spec);
  run->schedule_edits(
      {{2, "model.layers", "3"}, {4, "model.placement", "pre"}, {6, "model.placement", "mine"}});
  steps(*run, 3);
  run->save(folder.file("run.safetensors"));
  steps(*run, 5);
  forget_added_placements();
  const auto resumed = Run::load(folder.file("run.safetensors"), small_task(spec.data), shared_backend());
  steps(*resumed, 5);
  CHECK(resumed->spec().model.stack() == run->spec().model.stack());
  CHECK(same_bits(run->history()->loss().values, resumed->history()->loss().values));
}

TEST_CASE("placement folder: every file that can be read is offered, and each other one is a line") {
  const Forgetting after;
  const Folder folder;
  CHECK(load_placements(folder.file("nowhere")).empty());
  folder.write("a-broken.toml", "name = \"broken\"\nsublayer = \"before=nl\"\n");
  folder.write("b-mine.toml", kMine);
  folder.write("c-other.toml", "name = \"other\"\nsublayer = \"after=ln\"\n");
  folder.write("d-taken.toml", "name = \"other\"\nsublayer = \"none\"\n");
  folder.write("notes.txt", "name = 3\n");
  const std::vector<Message> refused = load_placements(folder.file(""));
  REQUIRE(refused.size() == 2);
  CHECK(contains(refused[0], "a-broken.toml:2: [sublayer] 'before=nl'"));
  CHECK(contains(refused[1], "d-taken.toml:1: [name] 'other' is taken"));
  CHECK(added_placements().size() == 2);
  CHECK(load_placements(folder.file("")).size() == 2);  // read again, nothing comes twice
  CHECK(added_placements().size() == 2);
}

TEST_CASE(
    "placement folder: a configuration may name what lies in placements beside it, which must be right") {
  const Forgetting after;
  const Folder folder;
  std::filesystem::create_directory(folder.path / "placements");
  folder.write("placements/mine.toml", kMine);
  const std::string config = folder.write("runs.toml", "[model]\nplacement = \"mine\"\n");
  const std::vector<ConfigRun> runs = read_config(config);
  CHECK(get_field(runs[0].spec, "model.placement") == "mine");
  folder.write("placements/other.toml", "name = \"other\"\nsublayer = 3\n");
  CHECK(contains(error_of([&] { read_config(config); }),
                 "placements/other.toml:2: [sublayer] 3 is a whole number"));
}
