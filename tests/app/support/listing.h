// A listing is what a window says, as lines of text. A test draws a state and compares its listing with a file that
// somebody has read: tests/screens/NAME.txt, or addons/X/tests/screens/NAME.txt of an add-on's test. `make accept`
// writes the files anew, and their difference is reviewed like the code's.
#pragma once

#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "app/ui/ui.h"

namespace normscope::fixture {

/// A line for every control whose name begins with one of `of` ("name = value (off)"); where "|" is among these, also
/// one for every text on the screen ("| words").
std::vector<std::string> lines_of(const ui::Ui& ui, const std::vector<std::string>& of);

/// The texts in a part of the screen, a line for each row.
std::string page_of(const ui::Ui& ui, const ui::Rect& part);

/// The controls with what the mouse on them says.
std::string controls_with_help(const ui::Ui& ui, std::string_view prefix);

/// What is gone from `before` ("- " with names and texts), and each line that is new in `after` ("+ line").
std::string changes(const std::vector<std::string>& before, const std::vector<std::string>& after);

/// Compares with NAME.txt beside the test that asks.
void check_listing(const std::string& name, const std::string& text,
                   std::source_location where = std::source_location::current());

}  // namespace normscope::fixture
