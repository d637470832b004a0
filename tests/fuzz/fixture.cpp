// A fixture: its description alone where it cannot be built, else the whole comparison.
// With GATE_ALONE in the environment nothing is built: many more executions of what judges the file.
#include "verify/fixture.h"

#include <cstdlib>

#include "engine/cpu/backend_cpu.h"
#include "fuzz.h"
#include "verify/verify.h"

using namespace normscope;

namespace {
constexpr double kMost = 4e6;  // numbers of the activations
}

FUZZ_TARGET(fixture, fuzz::mutate_safetensors) {
  bool small = false;
  const bool described = fuzz::accepts([&] {
    const SafetensorsFile file = SafetensorsFile::parse(fuzz::bytes_of(input), "fuzz.safetensors");
    const Fixture fixture = read_fixture(file);
    const ModelConfig& model = fixture.config;
    // A model may take what the machine has: not here.
    small = 1.0 * fixture.batch * (fixture.length + fixture.source_length) * model.layers *
                    (model.d_model + model.feed_forward + model.vocabulary + model.sequence + model.memory) <
                kMost &&
            1.0 * estimated_bytes(model, fixture.batch) < 4 * sizeof(float) * kMost;
    for (const std::string& name : file.names())
      if (name.starts_with("param/")) fuzz::accepts([&] { fixture.parameter(name.substr(6)); });
  });
  static const bool gate_alone = std::getenv("GATE_ALONE") != nullptr;
  if (!described || !small || gate_alone) return;
  static const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const std::string path = fuzz::Folder::instance().write("fixture.safetensors", input);
  fuzz::accepts([&] { to_string(verify_fixture(path, *backend)); });
}
