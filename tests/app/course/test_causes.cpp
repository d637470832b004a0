// The picture of the course's last page: a circle of causes, each with a number, a switch and the lesson it is from.
#include <algorithm>

#include "app/course/pictures/pictures.h"
#include "app/support/live_lab.h"
#include "app/support/player_driver.h"
#include "app/support/text_faults.h"
#include "app/support/well_formed.h"
#include "training/spec/small_size.h"

namespace normscope::test_causes {
namespace {

using namespace course;
using test::contains;

const std::string kCourse = std::string(NORMSCOPE_SOURCE_DIR) + "/lessons";

std::string range_of(const Course& course, const std::string& name) {
  const auto [lesson, measure] = measure_named(course, name);
  const Results results = *load_results(*lesson);
  return range_text(results.measures.at(measure->id).spread, *measure, *course.words);
}

Causes shipped_causes(const Course& course) {
  return causes_of(course, [&](const std::string& name) { return range_of(course, name); });
}

/// In a small window the list of the course has to be opened first.
void open_last_page(fixture::PlayerDriver& p) {
  if (p.ui.registry().find("lesson/course")) p.click("lesson/course");
  p.driver.click("lesson/why");
  p.driver.frames(30);
}

TEST_CASE("every arrow between causes has a number, a switch of its own and a lesson, in both languages") {
  for (const char* language : {"", "de"}) {
    const Course course = read_course(kCourse, language);
    const Causes causes = shipped_causes(course);
    REQUIRE(causes.links.size() >= 5);
    std::set<std::string> causes_told, runs;
    for (const Causes::Link& link : causes.links) {
      INFO(language << ": " << link.cause);
      CHECK(causes_told.insert(link.cause).second);
      CHECK(std::ranges::any_of(link.measured, [](unsigned char c) { return std::isdigit(c); }));
      CHECK_FALSE((link.cut.empty() || link.settings.empty() || link.lessons.empty()));
      CHECK_FALSE(contains(link.measured + link.cut, "{"));
      const RunSpec plain, cut = run_with(link.settings);
      CHECK_FALSE(edits_between(at_small_size(plain), at_small_size(cut), 0).empty());
      CHECK(runs.insert(link.settings.front()).second);
      const std::string told = link.as_text(*course.words);
      for (const std::string& part : {link.cause, link.measured, link.cut, link.settings[0]})
        CHECK(contains(told, part));
    }
  }
}

TEST_CASE("the parts of the circle stand apart and within their width, with every word of a cause") {
  for (const char* language : {"", "de"}) {
    const Course course = read_course(kCourse, language);
    const Causes causes = shipped_causes(course);
    for (const float width : {640.f, 756.f, 860.f}) {
      std::string svg = ui::to_svg(
          "causes",
          [&](ui::Painter& p, const ui::Theme& t) {
            const CausesPlaces places = places_of(p, causes, {10, 20}, width);
            std::vector<ui::Rect> all = places.boxes;
            all.insert(all.end(), places.measured.begin(), places.measured.end());
            all.insert(all.end(), places.cuts.begin(), places.cuts.end());
            all.push_back(places.head);
            for (size_t i = 0; i < all.size(); ++i) {
              CHECK(ui::Rect{10, 20, width, places.height}.contains(all[i]));
              for (size_t k = 0; k < i; ++k) CHECK_FALSE(all[i].overlaps(all[k]));
            }
            for (size_t i = 0; i < places.rings.size(); ++i)
              for (const ui::Rect& ring : places.rings[i]) CHECK(places.boxes[i].contains(ring));
            paint_causes(p, t, causes, places, *course.words);
            return ui::Vec{width + 20, places.height + 40};
          },
          ui::theme(false));
      for (const Causes::Link& link : causes.links) {
        INFO(language << " " << width << ": " << link.cause);
        CHECK(contains(svg, ">" + ui::svg_escaped(link.cause) + "</text>"));
        for (const Lesson* lesson : link.lessons)
          CHECK(contains(svg, ">" + std::to_string(lesson->number) + "</text>"));
      }
    }
  }
}

TEST_CASE("no word of the last page is marked as a term where the way on below is drawn") {
  fixture::PlayerDriver p;
  open_last_page(p);
  const float foot = p.driver.control("lesson/more").rect.y;
  int terms = 0;
  do {
    for (const ui::Control& c : p.ui.registry().all()) {
      if (!c.name.starts_with("title/term/")) continue;
      INFO(c.name);
      CHECK(c.rect.bottom() <= foot);
      ++terms;
    }
    p.click("lesson/more");
    p.driver.frames(2);
  } while (p.driver.control("lesson/more").enabled);
  CHECK(terms > 5);
}

TEST_CASE("readers without the program get the picture in both languages, and its list in words") {
  std::map<std::string, std::string> pages;
  for (auto& [name, text] : why_pages(fixture::shipped_course())) pages[name] = text;
  for (const char* language : {"", "de"}) {
    const std::string name = *language ? fmt::format("so-why.{}", language) : "so-why";
    const Course course = read_course(kCourse, language);
    const Causes causes = shipped_causes(course);
    REQUIRE(pages.contains(name + ".svg"));
    const std::string &svg = pages[name + ".svg"], &page = pages[name + ".md"];
    CHECK(test::well_formed(svg));
    CHECK(contains(svg, "prefers-color-scheme:dark"));
    const size_t picture = page.find("](" + name + ".svg)");
    REQUIRE(picture != page.npos);
    size_t at = picture;
    for (const Causes::Link& link : causes.links) {
      CHECK(contains(svg, "<title>" + ui::svg_escaped(link.as_text(*course.words))));
      at = page.find("\n1. *" + link.cause, at + 1);
      REQUIRE(at != page.npos);
      CHECK(page.find("`" + link.settings[0], at) < page.find('\n', at + 1));
    }
  }
}

TEST_CASE("a list that is no circle of causes is refused with its line, and goes where a lesson is missing") {
  const test::Folder folder;
  std::filesystem::copy(kCourse + "/08-norm-gradient", folder.path / "08-norm-gradient",
                        std::filesystem::copy_options::recursive);
  const auto read = [&](const std::string& text) {
    test::write_text(folder.path / "so-why.md", text);
    return read_course(folder.path.string(), "");
  };
  const std::string good =
      "One.\n\n1. *A norm divides* {lesson norm-gradient} By {band norm-gradient.exponent}. "
      "{cut model.placement=pre} It stands elsewhere.\n";
  const Course course = read(good);
  CHECK(course.broken.empty());
  REQUIRE(course.why);
  const Causes causes = shipped_causes(course);
  REQUIRE(causes.links.size() == 1);
  CHECK(causes.links[0].cause == "A norm divides");
  CHECK(causes.links[0].measured == "By " + range_of(course, "norm-gradient.exponent") + ".");
  CHECK(causes.links[0].cut == "It stands elsewhere.");
  for (const auto& [from, to, wrong] : std::vector<std::array<std::string, 3>>{
           {"*A norm divides*", "A norm divides", "so-why.md:3: an item of the numbered list is no cause"},
           {"{band norm-gradient.exponent}", "much", "is no cause"},
           {" It stands elsewhere.", "", "is no cause"},
           {"{cut model.placement=pre}", "", "is no cause"},
           {"placement=pre", "placement=under", "so-why.md:3: {cut}: "},
           {"model.placement=pre", "model.plaice=pre", "model.plaice"}}) {
    INFO(to);
    const Course broken = read(test::replaced(good, from, to));
    CHECK_FALSE(broken.why);
    REQUIRE(broken.broken.size() == 1);
    CHECK(contains(broken.broken[0].error, wrong));
  }
  const Course fewer = read(
      good + "1. *More* {lesson nowhere} By {band norm-gradient.exponent}. {cut model.placement=pre} So.\n");
  CHECK(fewer.broken.empty());
  REQUIRE(fewer.why);
  CHECK(shipped_causes(fewer).links.empty());
  CHECK(why_pages(fewer).size() == 1);
}

TEST_CASE("on the last page a switch opens two small models that differ in it") {
  for (const ui::Vec size : {ui::Vec{1600, 1000}, {1366, 768}, {1024, 600}}) {
    fixture::PlayerDriver p("", size);
    open_last_page(p);
    const Causes causes = shipped_causes(fixture::shipped_course());
    INFO(size.x);
    CHECK(fixture::overlaps(p.ui) == std::vector<std::string>{});
    for (const ui::TextRecord& text : p.ui.texts()) CHECK(text.text != "–");
    CHECK(p.driver.control("lesson/cause/1").value == causes.links[0].cause);
  }
  fixture::PlayerDriver p;
  open_last_page(p);
  Lab lab(fixture::quiet_lab());
  p.state.session.lab = &lab;
  p.driver.click("lesson/cut/1");
  auto view = lab.view();
  for (; view->runs.empty(); view = lab.view()) std::this_thread::yield();  // none is trained for this
  CHECK(view->instant);
  REQUIRE(view->runs.size() == 2);
  CHECK(get_field(*view->runs[0].spec, "model.attention_mixing") == "1");
  CHECK(get_field(*view->runs[1].spec, "model.attention_mixing") == "0");
  CHECK(view->runs[1].spec->model.d_model == at_small_size({}).model.d_model);
  p.state.session.lab = nullptr;
}

TEST_CASE("a ring in the picture of causes opens its lesson") {
  fixture::PlayerDriver p;
  open_last_page(p);
  p.driver.click("lesson/ring/1/first-steps");
  p.driver.frames(3);
  CHECK(p.player().lesson()->id == "first-steps");
}

}  // namespace
}  // namespace normscope::test_causes
