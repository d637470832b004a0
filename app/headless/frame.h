// An ImGui context without window, GL or backend. Time advances by a fixed step, textures are served in
// memory, and no ini file is read or written: the same input gives the same draw data and, through the rasteriser, the
// same pixels. Tests, the screenshot command and the text dump use it.
#pragma once

#include <functional>

#include "app/ui/geometry.h"

struct ImGuiContext;
struct ImDrawData;

namespace normscope::headless {

class Frame {
 public:
  explicit Frame(ui::Vec size_px, float delta_time = 1.f / 60);
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  void resize(ui::Vec size_px);
  // Calls NewFrame, draw() and Render, and serves textures. The draw data is valid until the next step.
  ImDrawData* step(const std::function<void()>& draw);
  ImDrawData* draw_data() const { return data_; }
  int frames() const { return frames_; }
  void make_current() const;

 private:
  ImGuiContext* context_;
  ImDrawData* data_ = nullptr;
  int frames_ = 0;
};

// Marks every pending texture request as done, for rendering in memory; ImGui holds the pixels.
void serve_textures();
// Undoes serve_textures() before the context goes.
void release_textures();

}  // namespace normscope::headless
