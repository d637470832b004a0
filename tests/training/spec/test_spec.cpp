// These tests cover the field table: fields there and back, every kind of wrong value, wirings by key, differences as
// edits.
#include "catch.hpp"

#include "engine/core/error.h"
#include "training/spec/spec.h"
#include "training/spec/spec_text.h"

using namespace normscope;
using namespace normscope::test;

namespace {

// A value of the field that is not the one it has.
std::string other_value(const Field& field, const RunSpec& spec) {
  const std::string now = field.get(spec);
  switch (field.type) {
    case FieldType::Integer:
      return std::to_string(static_cast<int64_t>(
          now == std::to_string(static_cast<int64_t>(field.low)) ? field.low + 2 : field.low));
    case FieldType::Real:
      if (field.low > 0.125) return real_text(static_cast<float>(2 * field.low));
      return now == "0.125" ? "0.25" : "0.125";
    case FieldType::Flag:
      return now == "true" ? "false" : "true";
    case FieldType::Choice:
      for (std::string_view choice : field.choices)
        if (choice != now && choice != "custom" && choice != "text") return std::string(choice);
      return now;
    case FieldType::Text:
      return field.key == "train.milestones" ? "10,20" : "notes.txt";
  }
  return now;
}

}  // namespace

TEST_CASE("the default specification is the default model", "[spec]") {
  const RunSpec spec;
  CHECK(get_field(spec, "model.layers") == "6");
  CHECK(get_field(spec, "model.d_model") == "64");
  CHECK(get_field(spec, "model.heads") == "4");
  CHECK(get_field(spec, "model.feed_forward") == "256");
  CHECK(get_field(spec, "model.sequence") == "64");
  CHECK(get_field(spec, "model.placement") == "post");
  CHECK(get_field(spec, "train.batch") == "16");
  CHECK(get_field(spec, "train.lr") == "0.003");
  CHECK(get_field(spec, "train.beta2") == "0.98");
  CHECK(get_field(spec, "train.eps") == "1e-09");
  CHECK(get_field(spec, "train.steps") == "300");
  CHECK_NOTHROW(validate(spec));
}

TEST_CASE("every field says what it is and is unique", "[spec]") {
  std::set<std::string_view> keys;
  for (const Field& field : spec_fields()) {
    INFO(field.key);
    CHECK(keys.insert(field.key).second);
    CHECK_FALSE(field.label.empty());
    CHECK(field.help.size() > 20);
    CHECK(field.help.ends_with("."));
    CHECK(field.get != nullptr);
    CHECK(field.set != nullptr);
    CHECK(find_field(field.key) == &field);
    CHECK(is_live(field.key) == field.live);
    if (field.type == FieldType::Choice) CHECK(field.choices.size() >= 2);
    if (field.type == FieldType::Integer || field.type == FieldType::Real) CHECK(field.high > field.low);
  }
  CHECK(keys.size() >= 35);
}

TEST_CASE("every field goes there and back", "[spec]") {
  for (const Field& field : spec_fields()) {
    INFO(field.key);
    RunSpec base;
    // The encoder has a placement of its own beside a decoder only.
    if (field.key == "model.encoder_placement") set_field(base, "model.architecture", "encoder-decoder");
    RunSpec spec = base;
    const std::string now = field.get(spec);
    set_field(spec, field.key, now);
    CHECK(spec == base);  // its own value changes nothing
    const std::string other = other_value(field, spec);
    REQUIRE(other != now);
    set_field(spec, field.key, "  " + other + " ");
    CHECK(field.get(spec) == other);
    CHECK_FALSE(spec == base);
    RunSpec copy;
    for (const auto& [key, value] : field_values(spec)) set_field(copy, key, value);
    CHECK(copy == spec);
    CHECK(copy.model.stack() == spec.model.stack());
  }
}

TEST_CASE("broken values are refused and change nothing", "[spec]") {
  for (const Field& field : spec_fields()) {
    if (field.type == FieldType::Text) continue;
    for (std::string value : {"", "nan", "inf", "1e99999", "12abc", "--3", "99999999999999999999999"}) {
      INFO(field.key << " = " << value);
      RunSpec spec;
      CHECK_THROWS_AS(set_field(spec, field.key, value), Error);
      CHECK(spec == RunSpec{});
    }
  }
}

TEST_CASE("a whole number has its limit to the last digit, beyond what a double can tell apart", "[spec]") {
  for (const char* key : {"run.seed", "data.seed"}) {
    RunSpec spec;
    CHECK_NOTHROW(set_field(spec, key, "9007199254740992"));
    CHECK_THROWS_WITH(set_field(spec, key, "9007199254740993"), Catch::Contains("is out of range"));
  }
}

TEST_CASE("combinations that no field can see are refused", "[spec]") {
  RunSpec spec;
  set_field(spec, "model.d_model", "62");
  CHECK_THROWS_AS(validate(spec), Error);
  spec = {};
  spec.data.name = "text";
  CHECK_THROWS_AS(validate(spec), Error);
  spec = {};
  set_field(spec, "train.schedule", "linear");
  set_field(spec, "train.warmup", "400");
  CHECK_THROWS_AS(validate(spec), Error);
}

TEST_CASE("depth and norm kind carry a preset along, and a custom wiring too", "[spec]") {
  RunSpec spec = preset_run("deepnorm");
  set_field(spec, "model.layers", "12");
  CHECK(get_field(spec, "model.placement") == "deepnorm");  // with the constants of depth 12
  set_field(spec, "model.norm", "rms");
  CHECK(get_field(spec, "model.placement") == "deepnorm");
  CHECK(spec.model.stack().layers[11].attention.stream == NormKind::Rms);

  spec = RunSpec{};
  set_field(spec, "wiring.L02.attn", "before=ln");
  CHECK(get_field(spec, "model.placement") == "custom");
  set_field(spec, "model.layers", "8");
  CHECK(spec.model.stack().layers.size() == 8);
  CHECK(spec.model.stack().layers[7] == spec.model.stack().layers[5]);
  set_field(spec, "model.norm", "simple");
  CHECK(get_field(spec, "wiring.L02.attn") == "before=simple");
  CHECK(get_field(spec, "wiring.L08.ffn") == "stream=simple");
  CHECK_NOTHROW(validate(spec));
}

TEST_CASE("differences become edits that lead from one to the other", "[spec]") {
  std::vector<RunSpec> specs = {RunSpec{}, preset_run("pre"), preset_run("admin"), preset_run("post-warmup")};
  specs.push_back(preset_run("sandwich"));
  set_field(specs.back(), "wiring.L03.ffn", "stream=rms skip=vector:1");
  set_field(specs.back(), "wiring.final", "none");
  specs.push_back(specs.back());
  set_field(specs.back(), "model.layers", "3");
  set_field(specs.back(), "model.d_model", "32");
  set_field(specs.back(), "train.lr", "0.00123");
  specs.push_back(preset_run("pre"));
  for (LayerWiring& layer : specs.back().model.stack().layers) layer.attention.before = NormKind::Rms;
  complete(specs.back());
  for (const RunSpec& from : specs)
    for (const RunSpec& to : specs) {
      RunSpec now = from;
      for (const Edit& edit : edits_between(from, to, 7)) {
        CHECK(edit.step == 7);
        set_field(now, edit.key, edit.value);
      }
      CHECK(now == to);
      CHECK(now.model.stack() == to.model.stack());
      if (from == to) CHECK(edits_between(from, to, 7).empty());
    }
  CHECK(edits_between(specs[0], specs[1], 1).size() == 1);  // a preset is one edit
}

TEST_CASE("an edit is read from the command line's form", "[spec]") {
  CHECK(edit_from("214:train.lr=1e-3") == Edit{214, "train.lr", "1e-3"});
  CHECK(edit_from("3:wiring.L01.attn=before=ln after=ln") ==
        Edit{3, "wiring.L01.attn", "before=ln after=ln"});
  CHECK(to_string(Edit{214, "train.lr", "1e-3"}) == "214:train.lr=1e-3");
  for (std::string_view text : {"", "214", "x:train.lr=1", "0:train.lr=1", "-3:a=b", "3 train.lr=1", "a=3:b"})
    CHECK_THROWS_AS(edit_from(text), Error);
}

TEST_CASE("default runs and presets", "[spec]") {
  const auto runs = default_comparison({}, 5);
  REQUIRE(runs.size() == 3);
  CHECK(default_name(runs[0]) == "Post-LN, no warm-up");
  CHECK(default_name(runs[1]) == "Post-LN, warm-up 200");
  CHECK(default_name(runs[2]) == "Pre-LN, no warm-up");
  for (const RunSpec& run : runs) {
    CHECK(run.seed == 5);
    CHECK_NOTHROW(validate(run));
  }
  for (const std::string& name : preset_names()) CHECK_NOTHROW(validate(preset_run(name)));
  CHECK_THROWS_AS(preset_run("best"), Error);
}
