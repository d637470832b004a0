// The regions of cells, and the plans that result from edits of them; edit.h declares both.
#include <algorithm>

#include "addons/sweep/app/screen/edit.h"

namespace normscope::sweep {
namespace {

/// Where a span stands on another axis, from its first value that is still there to its last.
std::optional<Span> moved_span(const Span& span, const Axis& from, const Axis& to) {
  std::optional<Span> moved;
  for (size_t place = 0; place < to.values.size(); ++place) {
    const auto old = std::find(from.values.begin(), from.values.end(), to.values[place]);
    if (old == from.values.end() || !span.holds(static_cast<size_t>(old - from.values.begin()))) continue;
    moved = moved ? Span{moved->first, place} : Span{place, place};
  }
  return moved;
}

Axis cut(const Axis& axis, const Span& span) {
  Axis list;
  list.key = axis.key;
  for (size_t i = span.first; i <= span.last; ++i) list.values.push_back(axis.values[i]);
  return list;
}

}  // namespace

std::optional<Brush> within(const Brush& brush, const Plan& plan) {
  const Span columns = brush.columns(), rows = brush.rows();
  if (plan.axes.empty() || columns.first >= plan.columns() || rows.first >= plan.rows()) return std::nullopt;
  return Brush{columns.first, rows.first, std::min(columns.last, plan.columns() - 1),
               std::min(rows.last, plan.rows() - 1)};
}

int32_t seeds_in(const Plan& plan, const Brush& brush) {
  int32_t fewest = plan.seeds_of(brush.column0, brush.row0);
  for (size_t row = brush.rows().first; row <= brush.rows().last; ++row)
    for (size_t column = brush.columns().first; column <= brush.columns().last; ++column)
      fewest = std::min(fewest, plan.seeds_of(column, row));
  return fewest;
}

Plan with_seeds(Plan plan, const Brush& brush, int32_t seeds) {
  const int32_t change = seeds - seeds_in(plan, brush);
  const auto own = std::find_if(plan.more.begin(), plan.more.end(), [&](const MoreSeeds& region) {
    return region.columns == brush.columns() && region.rows == brush.rows();
  });
  if (own == plan.more.end()) {
    if (change > 0) plan.more.push_back({change, brush.columns(), brush.rows()});
    return plan;
  }
  own->count += change;
  if (own->count <= 0) plan.more.erase(own);
  return plan;
}

namespace {

void add_axis(Plan& plan, Axis axis) {
  plan.axes.push_back(std::move(axis));
  const size_t last = plan.rows() - 1;
  for (MoreSeeds& region : plan.more) region.rows = {0, last};
}

void replace_axis(Plan& plan, size_t which, Axis axis) {
  std::vector<MoreSeeds> kept;
  for (MoreSeeds region : plan.more) {
    Span& span = which == 0 ? region.columns : region.rows;
    const std::optional<Span> moved = moved_span(span, plan.axes[which], axis);
    if (!moved) continue;
    span = *moved;
    kept.push_back(region);
  }
  plan.more = std::move(kept);
  plan.axes[which] = std::move(axis);
}

}  // namespace

Plan with_axis(Plan plan, size_t which, Axis axis) {
  const std::string key = axis.key;
  if (which < plan.axes.size())
    replace_axis(plan, which, std::move(axis));
  else
    add_axis(plan, std::move(axis));
  // A setting that becomes an axis stops being an option.
  std::erase_if(plan.set, [&](const std::string& assignment) {
    return std::string_view(assignment).substr(0, assignment.find('=')) == key;
  });
  if (key == "train.steps") plan.steps = 0;
  return plan;
}

Plan without_second_axis(Plan plan) {
  if (plan.axes.size() > 1) plan.axes.pop_back();
  for (MoreSeeds& region : plan.more) region.rows = {0, 0};
  return plan;
}

Plan narrowed(Plan plan, const Brush& brush) {
  const Span spans[] = {brush.columns(), brush.rows()};
  const size_t count = plan.axes.size();
  for (size_t i = 0; i < count; ++i) plan = with_axis(plan, i, cut(plan.axes[i], spans[i]));
  return plan;
}

Plan with_rest(Plan plan, const RunSpec& run) {
  plan.set.clear();
  plan.steps = run.train.steps;
  for (const Edit& edit : edits_between(base_of(Plan{}), run, 0)) {
    const bool own = std::any_of(plan.axes.begin(), plan.axes.end(),
                                 [&](const Axis& axis) { return axis.key == edit.key; });
    if (!own && edit.key != "run.seed" && edit.key != "run.name" && edit.key != "train.steps")
      plan.set.push_back(edit.key + "=" + edit.value);
  }
  if (std::any_of(plan.axes.begin(), plan.axes.end(),
                  [](const Axis& axis) { return axis.key == "train.steps"; }))
    plan.steps = 0;
  return plan;
}

}  // namespace normscope::sweep
