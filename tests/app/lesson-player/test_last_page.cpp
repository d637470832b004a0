// The last page of the course, and how far a claim reaches at the end of a lesson: numbers of five seeds, rings that open
// lessons, a fold.
#include "app/course/check.h"
#include "app/course/reader.h"
#include "app/support/player_driver.h"
#include "catch.hpp"
#include "test_paths.h"

namespace normscope::test_last_page {

namespace fs = std::filesystem;
using namespace course;
using fixture::PlayerDriver;
using lessons::PageKind;

const std::string kCourse = std::string(NORMSCOPE_SOURCE_DIR) + "/lessons";

/// The names of what is drawn now that begin like this.
std::vector<std::string> controls(PlayerDriver& p, const std::string& begin) {
  std::vector<std::string> found;
  for (const ui::Control& control : p.ui.registry().all())
    if (control.name.starts_with(begin)) found.push_back(control.name);
  return found;
}

TEST_CASE("the last page in a small window: Tab brings a ring into sight") {
  PlayerDriver p("", {1024, 600});
  p.click("lesson/course");
  p.driver.click("lesson/why");
  p.driver.frames(30);
  const std::string last = controls(p, "lesson/ring/").back();
  CHECK(p.driver.control(last).rect.bottom() > 600);
  p.focus(last);
  p.driver.frames(3);
  CHECK(p.driver.control(last).rect.bottom() < 600 - 56);
  CHECK(p.driver.control(last).rect.y > 48);
}

TEST_CASE("every lesson is behind a sentence of the last page, or has no part in the story") {
  const Course course = read_course(kCourse, "");
  REQUIRE(course.why);
  std::set<std::string> named;
  for (const Block& block : course.why->blocks)
    for (const Inline& piece : block.inlines)
      if (piece.kind == Inline::Kind::Lesson) named.insert(piece.text);
  // How a network computes, what a norm does to one row, and what inside a norm matters are told by themselves.
  for (const Lesson& lesson : course.lessons) {
    const bool apart =
        lesson.id == "five-minutes" || lesson.id == "norm-gradient" || lesson.id == "inside-layernorm";
    INFO(lesson.id);
    CHECK(named.contains(lesson.id) != apart);
  }
}

TEST_CASE("the last page has the same numbers and rings in every language") {
  const auto marks = [](const Course& course) {
    std::multiset<std::string> all;
    for (const Block& block : course.why->blocks)
      for (const Inline& piece : block.inlines)
        if (piece.kind != Inline::Kind::Text) all.insert(piece.text);
    return all;
  };
  const Course english = read_course(kCourse, ""), german = read_course(kCourse, "de");
  REQUIRE((english.why && german.why));
  CHECK(english.why->file != german.why->file);
  CHECK(marks(english) == marks(german));
}

TEST_CASE("a last page that names what the course has not is left out, and said by line") {
  const fs::path folder = "last_page_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::copy(kCourse + "/08-norm-gradient", folder / "08-norm-gradient", fs::copy_options::recursive);
  for (const auto& [text, wrong] :
       {std::pair<std::string, std::string>{"One.\n\n{band norm-gradient.nothing}\n",
                                            "so-why.md:3: 'norm-gradient.nothing'"},
        {"{band exponent}\n", "so-why.md:1: 'exponent'"},
        {"{value norm-gradient.exponent}\n", "so-why.md:1: 'norm-gradient.exponent'"}}) {
    std::ofstream(folder / "so-why.md") << text;
    const Course course = read_course(folder.string(), "");
    CHECK(course.lessons.size() == 1);
    CHECK_FALSE(course.why);
    REQUIRE(course.broken.size() == 1);
    INFO(course.broken[0].error);
    CHECK(test::contains(course.broken[0].error, wrong));
  }
  std::ofstream(folder / "so-why.md") << "{lesson norm-gradient} {band norm-gradient.exponent}\n";
  CHECK(read_course(folder.string(), "").why);
  // What is about a lesson that the folder lacks is left out, in the window and on the page of the report.
  std::ofstream(folder / "so-why.md")
      << "One.\n\nTwo {lesson nowhere}.\n\nThree {band warm-up.shortest}.\n\nFour {lesson norm-gradient}.\n";
  const Course fewer = read_course(folder.string(), "");
  CHECK(fewer.broken.empty());
  REQUIRE(fewer.why);
  CHECK(fewer.why->blocks.size() == 2);
  REQUIRE(why_pages(fewer).size() == 1);
  CHECK(why_pages(fewer)[0].second.find("One.") == 0);
  CHECK_FALSE(test::contains(why_pages(fewer)[0].second, "Two"));
  CHECK(test::contains(why_pages(fewer)[0].second, "Four [(8)](norm-gradient.html)"));
  fs::remove(folder / "so-why.md");
  const Course without = read_course(folder.string(), "");
  CHECK((without.broken.empty() && !without.why));
  fs::remove_all(folder);
}

}  // namespace normscope::test_last_page
