#include "app/ui/paint.h"

#include <fmt/format.h>
#include <imgui.h>

#include <imgui_internal.h>  // the draw list's white texel
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include "app/ui/shapes.h"
#include "engine/core/machine.h"

namespace normscope::ui {
namespace {

ImFontConfig config(bool merge);

}  // namespace

void Painter::fill(const Rect& r, Colour c, float radius) {
  if (!r.empty()) box(r, c, radius, Corners::All, Edges::Snapped);
}

void Painter::fill_bottom(const Rect& r, Colour c, float radius) {
  box(r, c, radius, Corners::Lower, Edges::Snapped);
}

void Painter::dashed_outline(const Rect& r, Colour c, float width, Dash dash, float radius) {
  if (r.empty()) return;
  Rect middle = r.inset(width / 2);
  std::vector<Vec> path = rounded(middle, std::max(0.f, radius - width / 2));
  float length = 0;
  for (size_t i = 1; i < path.size(); ++i)
    length += std::hypot(path[i].x - path[i - 1].x, path[i].y - path[i - 1].y);
  // Whole periods go around the shape, so that no cut dash shows where it closes.
  float periods = std::max(1.f, std::round(length / (dash.on + dash.off)));
  float k = length / (periods * (dash.on + dash.off));
  dashed(path, c, width, {dash.on * k, dash.off * k});
}

void Painter::line(Vec a, Vec b, Colour c, float width) {
  const Vec points[] = {a, b};
  polyline(points, c, width);
}

void Painter::dashed_line(Vec a, Vec b, Colour c, float width, Dash dash) {
  if (dash.solid()) return hairline(a, b, c, width);
  const Vec points[] = {a, b};
  dashed(points, c, width, dash);
}

void Painter::arc(Vec centre, float r, float from, float to, Colour c, float width) {
  std::vector<Vec> points;
  const int steps = std::clamp(int(std::fabs(to - from) * r), 12, 96);
  for (int i = 0; i <= steps; ++i) {
    const float angle = from + (to - from) * float(i) / float(steps);
    points.push_back(centre + Vec{std::cos(angle), std::sin(angle)} * r);
  }
  polyline(points, c, width);
}

void Painter::bezier(Vec a, Vec ca, Vec cb, Vec b, Colour c, float width) {
  std::array<Vec, 25> points;
  for (size_t i = 0; i < points.size(); ++i) {
    const float t = float(i) / float(points.size() - 1), u = 1 - t;
    points[i] = a * (u * u * u) + ca * (3 * u * u * t) + cb * (3 * u * t * t) + b * (t * t * t);
  }
  polyline(points, c, width);
}

// A stripe is the part of the rectangle with from <= x + y <= to.
void Painter::hatch(const Rect& r, Colour c, float stripe, float pitch) {
  for (float from = std::floor((r.x + r.y) / pitch) * pitch; from < r.right() + r.bottom(); from += pitch) {
    const float to = from + stripe;
    const float left = std::max(r.x, from - r.bottom()), right = std::min(r.right(), to - r.y);
    if (left >= right) continue;
    std::array<Vec, 4> upper{}, lower{};
    std::array<float, 4> xs{left, std::clamp(from - r.y, left, right),
                            std::clamp(to - r.bottom(), left, right), right};
    std::ranges::sort(xs);
    for (size_t i = 0; i < xs.size(); ++i) {
      upper[i] = {xs[i], std::max(r.y, from - xs[i])};
      lower[i] = {xs[i], std::min(r.bottom(), to - xs[i])};
    }
    strip(upper, lower, c);
  }
}

void Painter::marker(Vec o, Marker kind, float s, Colour fill, Colour edge) {
  const float e = 1;  // width of the edge around the fill
  auto diamond = [&](float h, Colour c) {
    const Vec p[] = {{o.x, o.y - h}, {o.x + h, o.y}, {o.x, o.y + h}, {o.x - h, o.y}};
    polygon(p, c);
  };
  auto triangle = [&](float h, Colour c) {
    const Vec p[] = {
        {o.x, o.y - h * 1.1f}, {o.x + h * 1.08f, o.y + h * 0.8f}, {o.x - h * 1.08f, o.y + h * 0.8f}};
    polygon(p, c);
  };
  auto square = [&](float h, Colour c) { box(centred(o, 2 * h, 2 * h), c, 0, Corners::All, Edges::Exact); };
  switch (kind) {
    case Marker::None:
      break;
    case Marker::Square:
      square(s * 0.9f + e, edge);
      square(s * 0.9f, fill);
      break;
    case Marker::Triangle:
      triangle(s * 1.15f + e * 1.6f, edge);
      triangle(s * 1.15f, fill);
      break;
    case Marker::Circle:
      circle(o, s + e, edge);
      circle(o, s, fill);
      break;
    case Marker::Diamond:
      diamond(s * 1.25f + e * 1.4f, edge);
      diamond(s * 1.25f, fill);
      break;
  }
}

void Painter::accent_box(const Theme& t, const Rect& r, float radius) {
  fill(r, t.accent, radius);
  outline(r, t.accent_outline, line::outline, radius);
}

void Painter::accent_disc(const Theme& t, Vec centre, float r) {
  circle(centre, r, t.accent);
  ring(centre, r - line::outline / 2, t.accent_outline, line::outline);
}

void Painter::shadow(const Theme& t, const Rect& r, float radius) {
  const float grow[] = {8, 5, 2}, strength[] = {0.035f, 0.05f, 0.07f};
  for (int i = 0; i < 3; ++i)
    box(r.inset(-grow[i]).moved(0, 3), rgb(0).alpha(strength[i] * t.shadow_gain), radius + grow[i],
        Corners::All, Edges::Exact);
}

void Painter::halo(const Theme& t, const Rect& r, float radius, float strength) {
  const float grow[] = {15, 9, 4}, alpha[] = {0.14f, 0.26f, 0.55f};
  for (int i = 0; i < 3; ++i)
    box(r.inset(-grow[i]), t.accent.alpha(alpha[i] * t.halo_gain * strength), radius + grow[i], Corners::All,
        Edges::Exact);
}

// ---- shapes and texts of Painter as triangles of a draw list

namespace {

constexpr float ink_above = 0.76f, ink_below = 0.22f;  // ink box around the baseline, for the overlap test

struct Box {
  ImVec2 lo, hi;
};

// Whether a line turns by more than 120 degrees at b: a mitred corner would reach far beyond b, as if the value there
// were larger.
bool turns_back(Vec a, Vec b, Vec c) {
  const Vec in{b.x - a.x, b.y - a.y}, out{c.x - b.x, c.y - b.y};
  const float along = in.x * out.x + in.y * out.y;
  const float lengths = (in.x * in.x + in.y * in.y) * (out.x * out.x + out.y * out.y);
  return along < 0 && 4 * along * along > lengths;
}

// Puts edges on whole device pixels, so that fills meet without seams and borders stay sharp at any scale.
Box snapped(const Rect& r, float scale) {
  return {{std::round(r.x * scale), std::round(r.y * scale)},
          {std::round(r.right() * scale), std::round(r.bottom() * scale)}};
}

ImVec2 at(Vec p, float scale) { return {p.x * scale, p.y * scale}; }

}  // namespace

void ScreenPainter::box(const Rect& r, Colour c, float radius, Corners corners, Edges edges) {
  const Box b = edges == Edges::Snapped ? snapped(r, scale_)
                                        : Box{at({r.x, r.y}, scale_), at({r.right(), r.bottom()}, scale_)};
  list_->AddRectFilled(b.lo, b.hi, c.packed(), radius * scale_,
                       corners == Corners::Lower ? ImDrawFlags_RoundCornersBottom : ImDrawFlags_None);
}

void ScreenPainter::outline(const Rect& r, Colour c, float width, float radius) {
  if (r.empty() || c.a == 0) return;
  Box b = snapped(r, scale_);
  float w = std::max(1.f, width * scale_);
  float in = w / 2 - 0.5f;  // AddRect itself moves in by half a pixel
  list_->AddRect({b.lo.x + in, b.lo.y + in}, {b.hi.x - in, b.hi.y - in}, c.packed(),
                 std::max(0.f, radius * scale_ - in), w);
}

void ScreenPainter::hairline(Vec a, Vec b, Colour c, float width) {
  float w = std::max(1.f, std::round(width * scale_));
  float x0 = std::round(std::min(a.x, b.x) * scale_), x1 = std::round(std::max(a.x, b.x) * scale_);
  float y0 = std::round(std::min(a.y, b.y) * scale_), y1 = std::round(std::max(a.y, b.y) * scale_);
  if (x1 - x0 < y1 - y0) {
    x0 = std::floor((a.x + b.x) / 2 * scale_ - (w - 1) / 2);
    x1 = x0 + w;
  } else {
    y0 = std::floor((a.y + b.y) / 2 * scale_ - (w - 1) / 2);
    y1 = y0 + w;
  }
  list_->AddRectFilled({x0, y0}, {x1, y1}, c.packed());
}

void ScreenPainter::dashed(std::span<const Vec> points, Colour c, float width, Dash dash, float phase,
                           DashAlong along) {
  if (dash.solid()) return polyline(points, c, width, false);
  Pieces pieces;
  cut_dashes(points, dash, phase, pieces, along);
  const bool level = points.size() == 2 && (points[0].x == points[1].x || points[0].y == points[1].y);
  for (size_t i = 0; i < pieces.size(); ++i)
    if (level)
      hairline(pieces[i].front(), pieces[i].back(), c, width);
    else
      polyline(pieces[i], c, width, false);
}

void ScreenPainter::polyline(std::span<const Vec> points, Colour c, float width, bool closed) {
  if (points.size() < 2) return;
  const float thick = std::max(1.f, width * scale_);
  list_->PathClear();
  for (size_t i = 0; i < points.size(); ++i) {
    list_->PathLineTo(at(points[i], scale_));
    const bool inner = i > 0 && i + 1 < points.size();
    if (closed || !inner || !turns_back(points[i - 1], points[i], points[i + 1])) continue;
    list_->PathStroke(c.packed(), thick);  // the line begins anew at its corner
    list_->PathLineTo(at(points[i], scale_));
  }
  list_->PathStroke(c.packed(), thick, closed ? ImDrawFlags_Closed : ImDrawFlags_None);
}

void ScreenPainter::polygon(std::span<const Vec> points, Colour c) {
  if (points.size() < 3) return;
  list_->PathClear();
  for (Vec p : points) list_->PathLineTo(at(p, scale_));
  list_->PathFillConvex(c.packed());
}

void ScreenPainter::strip(std::span<const Vec> upper, std::span<const Vec> lower, Colour c) {
  const size_t n = std::min(upper.size(), lower.size());
  if (n < 2) return;
  const ImVec2 white = list_->_Data->TexUvWhitePixel;
  list_->PrimReserve(int(n - 1) * 6, int(n) * 2);
  const unsigned base = list_->_VtxCurrentIdx;
  for (size_t i = 0; i < n; ++i) {
    list_->PrimWriteVtx(at(upper[i], scale_), white, c.packed());
    list_->PrimWriteVtx(at(lower[i], scale_), white, c.packed());
  }
  for (unsigned i = 0; i + 1 < n; ++i)
    for (unsigned corner : {0u, 2u, 3u, 0u, 3u, 1u})
      list_->PrimWriteIdx(static_cast<ImDrawIdx>(base + 2 * i + corner));
}

void ScreenPainter::circle(Vec centre, float r, Colour c) {
  list_->AddCircleFilled(at(centre, scale_), r * scale_, c.packed());
}

void ScreenPainter::ring(Vec centre, float r, Colour c, float width) {
  if (c.a) list_->AddCircle(at(centre, scale_), r * scale_, c.packed(), 0, std::max(1.f, width * scale_));
}

namespace {

/// Signs that were looked up, and those of them that no face has.
struct Signs {
  std::set<char32_t> known, missing;
};
Signs& signs_of_texts() {
  static Signs one;
  return one;
}

// A sign of other scripts begins with these bytes of UTF-8. Those that the program itself writes (Latin, Greek, thin
// spaces, mathematics) lie below, so that nearly all texts are passed over at once.
bool begins_sign(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0xD6 && byte != 0xE2;
}

void note_missing_signs(ImFont& font, std::string_view s) {
  if (std::ranges::none_of(s, begins_sign)) return;
  Signs& signs = signs_of_texts();
  for (size_t i = 0; i < s.size();) {
    const char32_t sign = next_sign(s, i);
    if (sign < 0x590 || sign > 0xFFFF || !signs.known.insert(sign).second) continue;
    if (!font.IsGlyphInFont(static_cast<ImWchar>(sign))) signs.missing.insert(sign);
  }
}

}  // namespace

char32_t next_sign(std::string_view text, size_t& at) {
  unsigned sign = 0;
  at += static_cast<size_t>(
      std::max(1, ImTextCharFromUtf8(&sign, text.data() + at, text.data() + text.size())));
  return sign;
}

std::vector<char32_t> take_missing_signs() {
  const std::set<char32_t> missing = std::exchange(signs_of_texts().missing, {});
  return {missing.begin(), missing.end()};
}

void add_to_faces(std::span<const uint8_t> bytes, int face, const std::string& name) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  ImFontConfig merged = config(true);
  merged.FontDataOwnedByAtlas = false;
  merged.FontNo = static_cast<ImU32>(face);
  const std::string shown = fmt::format("{}:{}", std::filesystem::path(name).filename().string(), face);
  std::snprintf(merged.Name, sizeof merged.Name, "%s", shown.c_str());
  for (ImFont* font : atlas.Fonts) {
    const auto same = [&](const ImFontConfig* one) { return std::string_view(one->Name) == merged.Name; };
    if (std::any_of(font->Sources.begin(), font->Sources.end(), same)) continue;
    merged.DstFont = font;
    atlas.AddFontFromMemoryTTF(const_cast<uint8_t*>(bytes.data()), static_cast<int>(bytes.size()), 0,
                               &merged);
  }
}

float ScreenPainter::text_width(TextStyle style, std::string_view s) const {
  const Fonts::Entry& face = (*fonts_)[style.face];
  note_missing_signs(*face.font, s);
  const float size = style.px * face.factor * scale_;
  float width = 0;
  for_pieces(s, [&](std::string_view piece, bool lowered) {
    const float of_piece = lowered ? size * kSubscriptSize : size;
    width += face.font->CalcTextSizeA(of_piece, FLT_MAX, 0, piece.data(), piece.data() + piece.size()).x;
  });
  return width / scale_;
}

float ScreenPainter::text(Vec at, TextStyle style, Colour colour, std::string_view s, Align align) {
  if (s.empty()) return 0;
  const Fonts::Entry& face = (*fonts_)[style.face];
  float size = style.px * face.factor * scale_;
  float width = text_width(style, s);
  float x = at.x - (align == Align::Left ? 0 : align == Align::Centre ? width / 2 : width);
  ImFontBaked* baked = face.font->GetFontBaked(size);
  float ascent = baked->Ascent * (size / baked->Size);
  // Text starts on whole device pixels, so that it does not shimmer when it is dragged or scaled.
  const ImVec2 place{std::round(x * scale_), std::round(at.y * scale_ - ascent)};
  float right = place.x;
  for_pieces(s, [&](std::string_view piece, bool lowered) {
    const float of_piece = lowered ? size * kSubscriptSize : size;
    const float drop = lowered ? ascent * (1 - kSubscriptSize) + kSubscriptDrop * size : 0;
    list_->AddText(face.font, of_piece, {right, place.y + drop}, colour.packed(), piece.data(),
                   piece.data() + piece.size());
    right += face.font->CalcTextSizeA(of_piece, FLT_MAX, 0, piece.data(), piece.data() + piece.size()).x;
  });
  if (records_) {
    ImVec2 lo = list_->GetClipRectMin(), hi = list_->GetClipRectMax();
    Rect clip{lo.x / scale_, lo.y / scale_, (hi.x - lo.x) / scale_, (hi.y - lo.y) / scale_};
    Rect ink{place.x / scale_, at.y - ink_above * style.px, width, (ink_above + ink_below) * style.px};
    records_->push_back({ink, clip, std::string(s), layer_, style.px});
  }
  return width;
}

void ScreenPainter::push_clip(const Rect& r) {
  Box b = snapped(r, scale_);
  list_->PushClipRect(b.lo, b.hi, true);
}

void ScreenPainter::pop_clip() { list_->PopClipRect(); }

// ---- text: centring, cutting and wrapping

namespace {

constexpr float capital_height = 0.727f;  // of the em, in Inter and JetBrains Mono alike

size_t next_character(std::string_view s, size_t i) {
  ++i;
  while (i < s.size() && (uint8_t(s[i]) & 0xC0) == 0x80) ++i;
  return i;
}

}  // namespace

float Painter::text_in(const Rect& box, TextStyle style, Colour colour, std::string_view s, Align align) {
  float baseline = box.centre().y + capital_height / 2 * style.px;
  float x = align == Align::Left ? box.x : align == Align::Centre ? box.centre().x : box.right();
  // Half a pixel of grace: a box measured with text_width must never cut its own text.
  if (text_width(style, s) <= box.w + 0.5f) return text({x, baseline}, style, colour, s, align);
  return text({x, baseline}, style, colour, fit(style, s, box.w), align);
}

std::string Painter::fit(TextStyle style, std::string_view s, float width) const {
  if (text_width(style, s) <= width) return std::string(s);
  size_t kept = longest_prefix(style, s, width - text_width(style, "…"));
  while (kept > 0 && s[kept - 1] == ' ') --kept;
  return kept ? std::string(s.substr(0, kept)) + "…" : std::string();
}

size_t Painter::longest_prefix(TextStyle style, std::string_view s, float width) const {
  size_t kept = 0;
  while (kept < s.size()) {
    const size_t next = next_character(s, kept);
    if (text_width(style, s.substr(0, next)) > width) break;
    kept = next;
  }
  return kept;
}

std::string Painter::fit_words(TextStyle style, std::string_view s, float width) const {
  std::string all;
  while (true) {
    const std::string_view word = s.substr(0, s.find(' '));
    if (text_width(style, word) <= width) {
      all += word;
    } else {  // the end of a path tells more than its beginning
      const float room = width - text_width(style, "…");
      const std::string_view head = word.substr(0, longest_prefix(style, word, room / 3));
      const float left = room - text_width(style, head);
      size_t tail = word.size();
      for (size_t at = tail; at > head.size() && text_width(style, word.substr(at)) <= left;) {
        tail = at--;
        while (at > 0 && (uint8_t(word[at]) & 0xC0) == 0x80) --at;
      }
      all += std::string(head) + "…" + std::string(word.substr(tail));
    }
    if (word.size() == s.size()) return all;
    all += ' ';
    s.remove_prefix(word.size() + 1);
  }
}

std::vector<std::string> Painter::wrap(float width, TextStyle style, std::string_view s) const {
  std::vector<std::string> lines(1);
  size_t i = 0;
  while (i < s.size()) {
    if (s[i] == '\n') {
      lines.emplace_back();
      ++i;
      continue;
    }
    size_t end = std::min(s.find_first_of(" \n", i), s.size());
    std::string_view word = s.substr(i, end - i);
    std::string longer = lines.back().empty() ? std::string(word) : lines.back() + " " + std::string(word);
    if (lines.back().empty() || text_width(style, longer) <= width)
      lines.back() = std::move(longer);
    else
      lines.emplace_back(word);
    // A word wider than the line goes on in the next line, where there is room for words at all.
    constexpr size_t kShortest = 8;
    if (lines.back().size() == word.size() && word.size() > kShortest && text_width(style, word) > width) {
      const size_t part = longest_prefix(style, word, width);
      if (part >= kShortest) {
        lines.back().resize(part);
        lines.emplace_back();
        i += part;
        continue;
      }
    }
    i = end < s.size() && s[end] == ' ' ? end + 1 : end;
  }
  return lines;
}

float Painter::text_wrapped(const Rect& box, TextStyle style, Colour colour, std::string_view s, float line) {
  float y = box.y;
  for (const std::string& each : wrap(box.w, style, s)) {
    text({box.x, y + line / 2 + capital_height / 2 * style.px}, style, colour, each);
    y += line;
  }
  return y - box.y;
}

float Painter::wrapped_height(float width, TextStyle style, std::string_view s, float line) const {
  return line * float(wrap(width, style, s).size());
}

// ---- dashes

float dash_length(Vec a, Vec b, DashAlong along) {
  return along == DashAlong::X ? std::fabs(b.x - a.x) : std::hypot(b.x - a.x, b.y - a.y);
}

float cut_dashes(std::span<const Vec> line, Dash dash, float phase, Pieces& out, DashAlong along) {
  if (line.size() < 2) return phase;
  const float period = dash.on + dash.off;
  if (dash.solid() || dash.off <= 0 || period <= 0) {
    out.points.insert(out.points.end(), line.begin(), line.end());
    out.ends.push_back(uint32_t(out.points.size()));
    return phase;
  }
  phase = std::fmod(phase, period);
  bool drawing = phase < dash.on;
  auto close = [&] {
    uint32_t begin = out.ends.empty() ? 0 : out.ends.back();
    uint32_t count = uint32_t(out.points.size()) - begin;
    if (count >= 2) out.ends.push_back(uint32_t(out.points.size()));
    if (count == 1) out.points.pop_back();
  };
  if (drawing) out.points.push_back(line[0]);
  for (size_t i = 1; i < line.size(); ++i) {
    Vec a = line[i - 1], d = line[i] - a;
    float length = dash_length(a, line[i], along), done = 0;
    while (length > 0) {
      float left = (drawing ? dash.on : period) - phase;  // to the next switch
      if (done + left > length) break;
      done += left;
      Vec at = a + d * (done / length);
      out.points.push_back(at);
      if (drawing) close();
      phase = drawing ? dash.on : 0;
      drawing = !drawing;
    }
    phase += length - done;
    if (drawing) out.points.push_back(line[i]);
  }
  if (drawing) close();
  return phase;
}

namespace {

namespace fs = std::filesystem;

// ImGui's font size is ascent + descent; these factors, measured on the faces, convert an em to it.
constexpr float inter_factor = 1.21f, mono_factor = 1.32f, dejavu_factor = 1.164f, builtin_factor = 1.0f;

struct Source {
  const char* name;                // for the notice
  std::vector<const char*> files;  // alternatives, best first
  std::vector<const char*> other;  // used where none of `files` exists
  const char* merge;               // symbols
  float factor;
};

const std::array<Source, 4>& sources() {
  static const std::array<Source, 4> list{{
      {"Inter Regular",
       {"Inter-Regular.otf", "Inter-Regular.ttf"},
       {"DejaVuSans.ttf"},
       "DejaVuSans.ttf",
       inter_factor},
      {"Inter SemiBold",
       {"Inter-SemiBold.otf", "Inter-SemiBold.ttf"},
       {"DejaVuSans-Bold.ttf", "DejaVuSans.ttf"},
       "DejaVuSans.ttf",
       inter_factor},
      {"JetBrains Mono Regular",
       {"JetBrainsMono-Regular.ttf", "JetBrainsMono-Regular.otf"},
       {"DejaVuSansMono.ttf"},
       "DejaVuSansMono.ttf",
       mono_factor},
      {"JetBrains Mono Medium",
       {"JetBrainsMono-Medium.ttf", "JetBrainsMono-Medium.otf"},
       {"DejaVuSansMono.ttf"},
       "DejaVuSansMono.ttf",
       mono_factor},
  }};
  return list;
}

std::string find(const std::vector<std::string>& folders, const std::vector<const char*>& names) {
  std::error_code ignored;
  for (const char* name : names)
    for (const std::string& folder : folders)
      if (fs::path file = fs::path(folder) / name; fs::is_regular_file(file, ignored)) return file.string();
  return {};
}

// PixelSnapH would round advances to whole pixels and set the type too wide or too tight.
ImFontConfig config(bool merge) {
  ImFontConfig c;
  c.MergeMode = merge;
  c.PixelSnapH = false;
  return c;
}

}  // namespace

std::vector<std::string> default_font_folders() {
  std::vector<std::string> folders;
  if (const char* own = std::getenv("NORMSCOPE_FONT_DIR")) folders.emplace_back(own);
#ifdef _WIN32  // the folder for Windows brings the faces along
  folders.push_back((fs::path(program_path()).parent_path() / "fonts").string());
#endif
  std::vector<std::string> roots{"/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts",
                                 "C:/Windows/Fonts"};
  if (const char* home = std::getenv("HOME")) {
    roots.push_back(std::string(home) + "/.local/share/fonts");
    roots.push_back(std::string(home) + "/.fonts");
    roots.push_back(std::string(home) + "/Library/Fonts");
  }
  for (const std::string& root : roots) {
    folders.push_back(root);
    for (const char* sub :
         {"opentype/inter", "truetype/inter", "inter", "rsms-inter-fonts", "truetype/jetbrains-mono",
          "jetbrains-mono", "jetbrains-mono-fonts", "truetype/dejavu", "dejavu", "dejavu-sans-fonts",
          "dejavu-sans-mono-fonts", "TTF", "OTF"})
      folders.push_back(root + "/" + sub);
  }
  return folders;
}

namespace {

/// The letters' file, or the next best, and the symbols', if that is another one.
struct FaceFiles {
  std::vector<std::string> files;
  bool next_best = false;
};
FaceFiles find_face(const Source& source, const std::vector<std::string>& folders) {
  std::string letters = find(folders, source.files);
  const bool next_best = letters.empty();
  if (next_best) letters = find(folders, source.other);
  std::vector<std::string> files{letters, find(folders, {source.merge})};
  if (files[0] == files[1]) files.pop_back();
  std::erase(files, "");
  return {std::move(files), next_best};
}

}  // namespace

std::vector<std::string> files_of_face(Face face, const std::vector<std::string>& folders) {
  return find_face(sources()[static_cast<size_t>(face)], folders).files;
}

std::string font_bytes(const std::string& path) {
  size_t size = 0;
  void* const data = ImFileLoadToMemory(path.c_str(), "rb", &size);  // as ImGui reads its fonts
  std::string bytes(static_cast<const char*>(data), data ? size : 0);
  ImGui::MemFree(data);
  return bytes;
}

Fonts load_fonts(const std::vector<std::string>& folders) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  Fonts fonts;
  ImFont* builtin = nullptr;
  std::string missing;
  for (size_t i = 0; i < sources().size(); ++i) {
    const Source& source = sources()[i];
    Fonts::Entry& entry = fonts.faces[i];
    entry.factor = source.factor;
    const auto [files, next_best] = find_face(source, folders);
    if (next_best) {
      missing += (missing.empty() ? "" : ", ") + std::string(source.name);
      entry.factor = dejavu_factor;
    }
    ImFontConfig first = config(false), second = config(true);
    if (!files.empty()) entry.font = atlas.AddFontFromFileTTF(files[0].c_str(), 0, &first);
    if (!entry.font) {
      if (!builtin) builtin = atlas.AddFontDefaultVector();
      entry = {builtin, builtin_factor};
      continue;
    }
    if (files.size() > 1) atlas.AddFontFromFileTTF(files[1].c_str(), 0, &second);
  }
  if (!missing.empty())
    fonts.notice = "Fonts not found: " + missing + ". Using " + (builtin ? "the built-in font" : "DejaVu") +
                   " (Debian: fonts-inter fonts-jetbrains-mono fonts-dejavu-core).";
  ImGui::GetIO().FontDefault = fonts.faces[0].font;
  return fonts;
}

}  // namespace normscope::ui
