// These tests type settings as text and the runs' names, and cover what one run alone has of a differing choice.
#include "app/shell/files.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/program.h"
#include "catch.hpp"

using namespace normscope;
using namespace shell;
using namespace session;
using fixture::LabDriver;

namespace {

std::shared_ptr<const LabView> with(std::initializer_list<std::pair<const char*, const char*>> values,
                                    int only = -1) {
  auto view = std::make_shared<LabView>(*fixture::lab_view());
  for (size_t i = 0; i < view->runs.size(); ++i) {
    if (only >= 0 && i != static_cast<size_t>(only)) continue;
    RunSpec spec = *view->runs[i].spec;
    for (const auto& [key, value] : values) set_field(spec, key, value);
    view->runs[i].spec = std::make_shared<const RunSpec>(spec);
  }
  return view;
}

// Goes the palette's way to a row, whatever its place: its box is ready to be typed into.
void open_row(LabDriver& lab, const std::string& key) {
  lab.click("app/search");
  lab.type(std::string(find_field(key)->label));
  lab.driver.key("Enter");
  lab.driver.frames(8);
}

void type_over(LabDriver& lab, const std::string& text) {
  lab.driver.key("Ctrl+A");
  lab.driver.key("Delete");
  lab.type(text);
  lab.key("Enter");
}

}  // namespace

TEST_CASE("a file that is not there is refused, one that is there is taken for all runs; empty is none") {
  const test::Folder folder;
  const std::string there = folder.write("valid.tsv", "a\tb\n");
  for (const char* key : {"data.valid", "data.tokenizer", "train.init_from"}) {
    INFO(key);
    LabDriver lab(fixture::lab_view());
    const std::string row = std::string("settings/") + key;
    open_row(lab, key);
    CHECK(test::contains(lab.driver.control(row).help, "restarts the runs from step 0"));
    type_over(lab, folder.file("no/such.file"));
    CHECK_FALSE(lab.last<EditField>());
    CHECK(lab.driver.value(row + "/note").starts_with("there is no "));
    type_over(lab, folder.file("."));
    CHECK(lab.driver.value(row + "/note").ends_with("is no file"));
    type_over(lab, there);
    REQUIRE(lab.last<EditField>());
    CHECK(lab.last<EditField>()->run == -1);
    CHECK(lab.last<EditField>()->value == there);

    LabDriver set(with({{key, there.c_str()}}));
    open_row(set, key);
    CHECK(set.driver.value(row) == "valid.tsv");
    type_over(set, "");
    REQUIRE(set.last<EditField>());
    CHECK(set.last<EditField>()->value.empty());
  }
}

TEST_CASE("a tokenizer that is not there is refused: settings name what is read, and nothing is written") {
  const test::Folder folder;
  LabDriver lab(fixture::lab_view());
  open_row(lab, "data.tokenizer");
  type_over(lab, folder.file("pieces.model"));
  CHECK_FALSE(lab.last<EditField>());
  CHECK(lab.driver.value("settings/data.tokenizer/note").starts_with("there is no file "));
  CHECK_FALSE(std::filesystem::exists(folder.file("pieces.model")));
}

TEST_CASE("a long list of choices stays inside a small window") {
  LabDriver lab(with({{"model.architecture", "encoder-decoder"}}), {1024, 600});
  open_row(lab, "model.encoder_placement");
  lab.driver.frames(2);
  int choices = 0;
  for (const ui::Control& c : lab.ui.registry().all())
    if (c.name.starts_with("settings/model.encoder_placement/")) {
      ++choices;
      CHECK((c.rect.y >= 0 && c.rect.bottom() <= 600 && c.rect.x >= 0 && c.rect.right() <= 1024));
    }
  CHECK(choices > 20);
}

TEST_CASE("a message names a setting as the screen does and no part of the program") {
  const auto said = [](const char* where, const char* why) { return plain_message({"[{}] {}", where, why}); };
  CHECK(said("train.lr", "5: expected 0 to 1") == "learning rate: 5: expected 0 to 1");
  CHECK(said("model.architecture", "x: expected decoder") == "model: x: expected decoder");
  CHECK(said("lab", "there is no run to edit") == "there is no run to edit");
  CHECK(said("session /tmp/S", "cannot be read") == "session /tmp/S: cannot be read");
  CHECK(said("checkpoint a.safetensors", "is damaged") == "checkpoint a.safetensors: is damaged");
  for (const char* plain : {"", "saved lab.toml", "step [3] of 4", "[train.lr", "[lab]"}) {
    INFO(plain);
    CHECK(plain_message(plain) == plain);
  }
}
