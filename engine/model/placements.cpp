// The table of placements and its readers. A new placement is a row of placements.def; only a number that depends on
// the place in the stack needs a function here.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>

#include "engine/core/error.h"
#include "engine/model/residual.h"
#include "engine/model/wiring.h"

namespace normscope {
namespace {

constexpr NormKind N = NormKind::LayerNorm;  // in a row: the norm that the model uses

double deepnorm_alpha(const StackContext& c, int) { return deepnorm_constants(c).alpha; }
double deepnorm_beta(const StackContext& c, int) { return deepnorm_constants(c).beta; }
double subln_gain(const StackContext& c, int) { return normscope::subln_gain(c); }
double inverse_root_of_layer(const StackContext&, int layer) { return 1 / std::sqrt(layer); }
double inverse_root_of_sublayers(const StackContext&, int layer) { return 1 / std::sqrt(2.0 * layer); }
double first_quarter(const StackContext& c, int) { return std::max(1, c.layers / 4); }
double first_layer(const StackContext&, int) { return 1; }
double sublayers_of_stack(const StackContext& c, int) { return c.layers * (c.has_cross() ? 3 : 2); }

const SingleSublayer kFirstReadsNorm[] = {{.wiring = {.before = N, .stream = N}}};

const PlacementRow kRows[] = {
#define PLACEMENT(Name, text, long_label, button, ...) \
  PlacementRow{.name = text, .label = long_label, .short_label = button, __VA_ARGS__},
#include "engine/model/placements.def"
#undef PLACEMENT
    PlacementRow{.name = "custom", .label = "Custom", .short_label = "Custom"}};

static_assert(std::size(kPresets) + 1 == std::size(kRows));

const PlacementRule kRules[] = {
    {"deepnorm-alpha", deepnorm_alpha}, {"deepnorm-beta", deepnorm_beta},
    {"subln-gain", subln_gain},         {"1/sqrt(layer)", inverse_root_of_layer},
    {"sublayers", sublayers_of_stack},  {"1/sqrt(2*layer)", inverse_root_of_sublayers},
    {"quarter", first_quarter}};

/// Owns the texts and sub-layers that a row points to.
struct AddedRow {
  explicit AddedRow(const PlacementRow& of)
      : texts{of.name, of.label, of.short_label, of.formula, of.source, of.slots},
        single(of.single.begin(), of.single.end()),
        row(of) {
    row.name = texts[0].c_str();
    row.label = texts[1].c_str();
    row.short_label = texts[2].c_str();
    row.formula = texts[3].c_str();
    row.source = texts[4].c_str();
    row.slots = texts[5].c_str();
    row.single = single;
  }
  const std::array<std::string, 6> texts;
  const std::vector<SingleSublayer> single;
  PlacementRow row;
};

/// The rows that were added at run time. Readers take no lock: a row is stored before the count includes it.
struct AddedPlacement {
  static constexpr size_t kMax = 64;
  std::array<std::atomic<const PlacementRow*>, kMax> rows = {};
  std::atomic<size_t> count = 0;
  std::mutex writing;
  // Forgotten rows too: somebody may still hold their names.
  std::vector<std::unique_ptr<const AddedRow>> kept;
};

AddedPlacement& added() {
  static AddedPlacement all;
  return all;
}

constexpr size_t kFirstAdded = static_cast<size_t>(Placement::Custom) + 1;
static_assert(kFirstAdded + AddedPlacement::kMax <= 256);

bool same(const char* a, const char* b) { return std::strcmp(a, b) == 0; }

bool same(const PlacementRow& a, const PlacementRow& b) {
  return same(a.name, b.name) && same(a.label, b.label) && same(a.short_label, b.short_label) &&
         same(a.formula, b.formula) && same(a.source, b.source) && a.sublayer == b.sublayer &&
         a.cross == b.cross && a.feed_forward == b.feed_forward && a.early == b.early &&
         a.early_layers == b.early_layers && a.first_layers == b.first_layers && a.embedding == b.embedding &&
         a.final == b.final && same(a.slots, b.slots) && a.skip == b.skip && a.branch == b.branch &&
         a.gain == b.gain && a.pre_scale == b.pre_scale && a.norm == b.norm &&
         std::ranges::equal(a.single, b.single);
}

/// Allows words of small letters and digits with hyphens between them, the first begun by a letter.
bool is_name(std::string_view name) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto other = [&](char c) { return small(c) || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && small(name.front()) && name.back() != '-' && name.find("--") == name.npos &&
         std::ranges::all_of(name, other);
}

/// Fills in "second=ln; joined=ln".
void fill_slots(StackWiring& stack, std::string_view text) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(';'));
    const size_t equals = one.find('=');
    for (const StackSlotRow* slot : stack_slots())
      if (slot->key == one.substr(0, equals)) set_slot(stack, *slot, one.substr(equals + 1));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ')));
  }
}

template <typename Wired>
void choose_norm(Wired& w, NormKind norm) {
  for (WiredNorm* at : norms_of(w))
    if (*at == NormKind::LayerNorm) *at = {norm, traits_of(norm).has_statistics ? at->eps : 0};
}

/// The kind of the first norm of the stack; LayerNorm where it has none.
NormKind norm_of(const StackWiring& stack) {
  for (const LayerWiring& layer : stack.layers)
    for (const Wiring* w : {&layer.attention, &layer.feed_forward, &layer.cross})
      for (NormKind kind : norms_of(*w))
        if (kind != NormKind::None) return kind;
  for (NormKind kind : norms_of(stack))
    if (kind != NormKind::None) return kind;
  return NormKind::LayerNorm;
}

}  // namespace

const PlacementRow& row_of(Placement placement) {
  const auto at = static_cast<size_t>(placement);
  return at < kFirstAdded ? kRows[at] : *added().rows[at - kFirstAdded].load(std::memory_order_acquire);
}

std::vector<Placement> added_placements() {
  std::vector<Placement> all(added().count.load(std::memory_order_acquire));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Placement>(kFirstAdded + i);
  return all;
}

std::vector<Placement> placements() {
  std::vector<Placement> all(std::begin(kPresets), std::end(kPresets));
  for (const Placement p : added_placements()) all.push_back(p);
  return all;
}

Placement add_placement(const PlacementRow& row) {
  AddedPlacement& all = added();
  const std::lock_guard lock(all.writing);
  if (!is_name(row.name))
    fail("name", "'{}': expected words of small letters and digits with hyphens between them", row.name);
  const auto refuse_taken = [&](const PlacementRow& other) {
    const auto taken = [](const char* text) { fail("name", "'{}' is taken: expected another", text); };
    if (same(row.name, other.name)) taken(row.name);
    if (same(row.label, other.label)) taken(row.label);
    if (same(row.short_label, other.short_label)) taken(row.short_label);
  };
  for (const Placement p : added_placements())
    if (same(row, row_of(p))) return p;
  for (const PlacementRow& other : kRows) refuse_taken(other);
  for (const Placement p : added_placements()) refuse_taken(row_of(p));
  const size_t count = all.count.load(std::memory_order_relaxed);
  if (count == AddedPlacement::kMax)
    fail("name", "there are {} placements of your own: expected no more", count);
  all.kept.push_back(std::make_unique<const AddedRow>(row));
  all.rows[count].store(&all.kept.back()->row, std::memory_order_release);
  all.count.store(count + 1, std::memory_order_release);
  return static_cast<Placement>(kFirstAdded + count);
}

void forget_added_placements() { added().count = 0; }

std::span<const PlacementRule> placement_rules() { return kRules; }

const char* to_string(Placement placement) { return row_of(placement).name; }
const char* label(Placement placement) { return row_of(placement).label; }

Placement placement_from(std::string_view name) {
  std::string known;
  for (Placement p : placements()) {
    if (name == to_string(p)) return p;
    known += (known.empty() ? "" : ", ") + std::string(to_string(p));
  }
  fail("placement", "'{}' is not a placement: expected one of {}", name, known);
}

DeepNormConstants deepnorm_constants(const StackContext& c) {
  const double own = c.layers, other = c.other_layers;
  if (c.other_layers == 0) return {std::pow(2 * own, 0.25), std::pow(8 * own, -0.25)};
  if (c.decoder) return {std::pow(3 * own, 0.25), std::pow(12 * own, -0.25)};
  const double n4m = std::pow(own, 4) * other;  // N encoder layers, M decoder layers
  return {0.81 * std::pow(n4m, 1.0 / 16), 0.87 * std::pow(n4m, -1.0 / 16)};
}

double subln_gain(const StackContext& c) {
  if (c.other_layers == 0) return std::sqrt(std::log(2.0 * c.layers));
  if (c.decoder) return std::sqrt(std::log(3.0 * c.layers));
  return std::sqrt(std::log(3.0 * c.other_layers) * std::log(2.0 * c.layers) / 3);
}

namespace {

/// The kind of N in a row, for a model that uses `norm`.
NormKind norm_for(const PlacementRow& row, NormKind norm) {
  return row.norm == NormKind::LayerNorm ? norm : row.norm;
}

LayerWiring layer_of(const PlacementRow& row, NormKind norm, const StackContext& context, int layer) {
  const auto number = [&](PlacementRow::Number n) { return static_cast<float>(n(context, layer)); };
  const float first = row.early_layers ? number(row.early_layers) : static_cast<float>(row.first_layers);
  const bool early = row.early && static_cast<float>(layer) <= first;
  Wiring w = early ? *row.early : row.sublayer;
  if (row.skip) w.skip = {Scale::Kind::Constant, number(row.skip)};
  if (row.branch) w.branch = {Scale::Kind::Constant, number(row.branch)};
  if (row.gain) w.init_gain = number(row.gain);
  if (row.pre_scale) w.pre_scale = number(row.pre_scale);
  LayerWiring wiring{w, w, w};
  if (row.cross && context.has_cross()) wiring.cross = *row.cross;
  if (row.feed_forward && !early) wiring.feed_forward = *row.feed_forward;
  for (const SingleSublayer& single : row.single)
    if (single.layer == layer) wiring.*single.sublayer = single.wiring;
  if (!context.has_cross()) wiring.cross = wiring.attention;
  Inner& inner = wiring.feed_forward.inner;  // has no heads
  inner.query = inner.key = inner.value = NormKind::None;
  inner.head_scale = false;
  for (Wiring* part : {&wiring.attention, &wiring.cross, &wiring.feed_forward})
    choose_norm(*part, norm_for(row, norm));
  return wiring;
}

bool is_stack_of(Placement p, NormKind norm, const StackWiring& stack, const StackContext& context) {
  return (stack.layers.empty() || stack.layers[0] == preset_layer(p, norm, context, 1)) &&
         stack == preset_stack(p, norm, context);
}

}  // namespace

LayerWiring preset_layer(Placement placement, NormKind norm, const StackContext& context, int layer) {
  return layer_of(row_of(placement), norm, context, layer);
}

Wiring preset(Placement placement, NormKind norm, const StackContext& context) {
  return preset_layer(placement, norm, context, 1).attention;
}

StackWiring preset_stack(const PlacementRow& row, NormKind norm, const StackContext& context) {
  StackWiring stack;
  for (int layer = 1; layer <= context.layers; ++layer)
    stack.layers.push_back(layer_of(row, norm, context, layer));
  norm = norm_for(row, norm);
  if (row.embedding) stack.embedding = norm;
  if (row.final) stack.final = norm;
  fill_slots(stack, row.slots);
  choose_norm(stack, norm);
  return stack;
}

StackWiring preset_stack(Placement placement, NormKind norm, const StackContext& context) {
  return preset_stack(row_of(placement), norm, context);
}

Placement placement_of(const StackWiring& stack, const StackContext& context) {
  if (static_cast<size_t>(context.layers) != stack.layers.size()) return Placement::Custom;
  const NormKind norm = norm_of(stack);
  for (Placement p : kPresets)
    if (is_stack_of(p, norm, stack, context)) return p;
  // An added placement may have norms of several kinds, of which only one is the model's.
  for (Placement p : added_placements())
    for (NormKind kind : kNormKinds)
      if (kind != NormKind::None && is_stack_of(p, kind, stack, context)) return p;
  return Placement::Custom;
}

bool has_norms(Placement placement) {
  const PlacementRow& row = row_of(placement);
  if (row.norm != NormKind::LayerNorm) return false;
  if (row.embedding || row.final) return true;
  StackWiring stack;
  fill_slots(stack, row.slots);
  if (norms_of(stack).size() > norms_of(StackWiring{}).size()) return true;
  std::vector<Wiring> all{row.sublayer};
  for (const std::optional<Wiring>* other : {&row.cross, &row.feed_forward, &row.early})
    if (*other) all.push_back(**other);
  for (const SingleSublayer& single : row.single) all.push_back(single.wiring);
  return std::ranges::any_of(all, [](const Wiring& wiring) {
    const auto norms = norms_of(wiring);
    return std::ranges::any_of(norms, [](WiredNorm n) { return n != NormKind::None; });
  });
}

}  // namespace normscope
