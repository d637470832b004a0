// These tests look at what the commands leave behind: nothing onto what they read, nothing where a file says so,
// weights before tables before logs, whatever signal, pipe or disk comes in between.
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "addons.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "test_paths.h"

using namespace normscope;
using namespace normscope::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string tiny(const Folder& folder) { return "--config " + folder.write("tiny.toml", kTiny); }

std::vector<int> steps_in(const std::string& log) {
  std::vector<int> steps;
  for (const json& line : read_log(log))
    if (line.contains("step")) steps.push_back(line["step"]);
  return steps;
}

/// The exit code of a whole shell line in which PROGRAM stands for the program.
int shell(std::string line) {
  const std::string name = "'" NORMSCOPE_PROGRAM "'";
  for (size_t at; (at = line.find("PROGRAM")) != std::string::npos;) line.replace(at, 7, name);
  const int status = std::system(("bash -c \"" + line + "\"").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

constexpr const char* kEndless = " --steps 1000000 --set train.steps=1000000";

}  // namespace

TEST_CASE("outputs are refused onto inputs and onto each other, in one line, and harm nothing") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 400; ++i) text += "a text of one's own. ";
  const std::string book = folder.write("book.txt", text), config = folder.write("tiny.toml", kTiny);
  const std::string saved = folder.file("x.safetensors");
  REQUIRE(run_program("train --config " + config + " --steps 1 --save " + saved).code == 0);
  fs::create_symlink(book, folder.file("link"));
  fs::create_hard_link(book, folder.file("hard"));
  const std::string before = read_all(saved);
  const std::pair<std::string, std::string> cases[] = {
      {"train --preset pre --steps 1 --text " + book + " --save " + book, "--save " + book},
      {"train --preset pre --steps 1 --text " + book + " --save " + folder.file("link"), "data.text reads"},
      {"train --preset pre --steps 1 --text " + book + " --log " + folder.file("hard"), "--log"},
      {"train --steps 1 --config " + config + " --log " + config, "--config reads"},
      {"train --steps 1 --config " + config + " --save " + folder.file("new") + " --log " +
           folder.file("new"),
       "--save writes"},
      {"train --steps 2 --resume " + saved + " --log " + saved, "--resume reads"},
      {"train --steps 1 --config " + config + " --set train.init_from=" + saved + " --save " + saved,
       "train.init_from reads"},
      {"average " + saved + " --out " + saved, "average reads"},
      {"screenshot --steps 1 --config " + config + " --out " + config, "--config reads"},
      {"compare --steps 1 --config " + config + " --out " + folder.file("out"), "--config reads"},
      {"train --preset pre --steps 1 --save ''", "--save"},
      {"train --preset pre --steps 1 --log ''", "--log"},
  };
  fs::create_directories(folder.file("out"));
  fs::create_hard_link(config, folder.file("out/runs.jsonl"));
  for (const auto& [arguments, words] : cases) {
    if (!has_command(arguments.substr(0, arguments.find(' ')))) continue;
    const Outcome outcome = run_program(arguments);
    INFO(arguments << " gave " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(is_one_error_line(outcome));
    CHECK(contains(outcome.err, words));
  }
  CHECK(read_all(book) == text);
  CHECK(read_all(config) == kTiny);
  CHECK(read_all(saved) == before);
  // What is gone on with may be saved over.
  CHECK(run_program("train --steps 2 --resume " + saved + " --save " + saved).code == 0);
  CHECK(read_all(saved) != before);
}

TEST_CASE("a failing log takes neither weights nor table along; a failing save takes neither table nor log") {
  const Folder folder;
  Outcome outcome =
      run_program("train " + tiny(folder) + " --log /dev/full --save " + folder.file("ok.safetensors"));
  CHECK(outcome.code == 5);
  CHECK(is_one_error_line(outcome));
  CHECK(contains(outcome.err, "No space left"));
  CHECK(contains(outcome.out, "verdict"));
  CHECK(fs::file_size(folder.file("ok.safetensors")) > 1000);

  outcome = run_program("train " + tiny(folder) + " --save /dev/full --save-every 3 --log " +
                        folder.file("log.jsonl"));
  CHECK(outcome.code == 5);
  CHECK(is_one_error_line(outcome));  // four failures, said once
  CHECK(contains(outcome.out, "verdict"));
  CHECK(read_log(folder.file("log.jsonl")).size() == 13);

  if (!has_command("compare")) return;
  fs::create_directories(folder.file("out"));
  fs::create_symlink("/dev/full", folder.file("out/runs.jsonl"));
  fs::create_symlink("/dev/full", folder.file("out/lab-dark.png"));
  outcome = run_program("compare --threads 1 " + tiny(folder) + " --out " + folder.file("out"));
  CHECK(outcome.code == 5);
  CHECK(contains(outcome.out, "verdict"));
  CHECK(contains(outcome.err, "runs.jsonl"));
  CHECK(contains(outcome.err, "lab-dark.png"));
  CHECK(fs::exists(folder.file("out/lab-light.png")));
}

TEST_CASE("a step is in the log before it is saved, so that no kill parts the two") {
  const Folder folder;
  const std::string log = folder.file("x.jsonl");
  CHECK(shell("PROGRAM train " + tiny(folder) + " --save /dev/full --save-every 3 --log " + log +
              " >/dev/null 2>>" + log) == 5);
  const std::string lines = read_all(log);
  const size_t failed = lines.find("No space left");
  REQUIRE(failed != lines.npos);
  CHECK(lines.find("\"step\":3,") < failed);
  CHECK(lines.find("\"step\":4,") > failed);
}

TEST_CASE("a limit on the size of files is a full disk: weights, table and one line, no signal") {
  const Folder folder;
  const std::string saved = folder.file("x.safetensors"), log = folder.file("x.jsonl");
  REQUIRE(run_program("train " + tiny(folder) + " --save " + saved + " --log " + log).code == 0);
  constexpr uintmax_t kLimit = 100 * 1024;  // bytes; above the weights
  REQUIRE(fs::file_size(saved) < kLimit - 10'000);
  std::string lines = read_all(log);
  const std::string last = lines.substr(lines.rfind('\n', lines.size() - 2) + 1);
  while (lines.size() + last.size() < kLimit) lines += last;
  folder.write("x.jsonl", lines);
  const std::string next = folder.file("next.safetensors");
  const int code = shell("ulimit -f 100; PROGRAM train --resume " + saved + " --steps 14 --save " + next +
                         " --log " + log + " >" + folder.file("out") + " 2>" + folder.file("err"));
  const std::string err = read_all(folder.file("err"));
  INFO(err);
  CHECK(code == 5);
  CHECK(contains(err, "x.jsonl] cannot be written: File too large"));
  CHECK_FALSE(contains(err, "safetensors"));
  CHECK(contains(read_all(folder.file("out")), "verdict"));
  CHECK(fs::file_size(next) > 1000);
}

TEST_CASE("standard output: a full disk, a closed stream and a closed pipe lose nothing but what they lose") {
  const Folder folder;
  const std::string train = "PROGRAM train " + tiny(folder) + " --log " + folder.file("x.jsonl") +
                            " --save " + folder.file("x.safetensors");
  CHECK(shell(train + " >/dev/full 2>" + folder.file("err")) == 5);
  CHECK(contains(read_all(folder.file("err")), "standard output cannot be written: No space left"));
  CHECK(fs::remove(folder.file("x.safetensors")));
  CHECK(shell("PROGRAM lesson list >/dev/full 2>/dev/null") == 5);
  CHECK(shell("PROGRAM --help >/dev/full 2>/dev/null") == 5);
  // The streams' numbers are not given to files.
  for (const char* closed : {">&-", "<&- >&- 2>&-"}) {
    INFO(closed);
    CHECK(shell(train + " " + closed) == 0);
    CHECK(read_log(folder.file("x.jsonl")).size() == 13);
    CHECK(fs::remove(folder.file("x.safetensors")));
  }
  // It finds the reader gone when it prints: at the latest after a tenth of the way.
  const int code = shell("PROGRAM train " + tiny(folder) + " --steps 100000 --validate-every 20 --save " +
                         folder.file("x.safetensors") + " 2>/dev/null | true; exit \\${PIPESTATUS[0]}");
  CHECK(code == 130);
  CHECK(run_program("train --resume " + folder.file("x.safetensors") + " --steps 100001 --plan").code == 0);
}

TEST_CASE("a reader that has read enough leaves without a word: PROGRAM | head") {
  const Folder folder;
  for (const char* command : {"--help", "man", "lesson list"}) {
    INFO(command);
    shell("{ sleep 0.1; PROGRAM " + std::string(command) + "; echo \\$? >" + folder.file("code") + "; } 2>" +
          folder.file("err") + " | true");
    CHECK(read_all(folder.file("code")) == "130\n");
    CHECK(read_all(folder.file("err")).empty());
  }
}

TEST_CASE("a limit on the address space is memory that the machine has not") {
  const Folder folder;
  CHECK(shell("ulimit -v 500000; PROGRAM train --preset pre --set model.feed_forward=65536 >" +
              folder.file("out") + " 2>" + folder.file("err")) == 7);
  CHECK(contains(read_all(folder.file("err")), "this machine has 488 MiB"));
  // What the plan allows may still be refused by the system, as the program itself takes space.
  CHECK(
      shell(
          "ulimit -v 400000; PROGRAM train --preset pre --set model.feed_forward=4000 --steps 1 >/dev/null 2>" +
          folder.file("err")) == 7);
  CHECK(contains(read_all(folder.file("err")), "[memory] "));
}

TEST_CASE("SIGTERM and SIGHUP save as Ctrl+C does, and a SIGHUP that nohup turned off is none") {
  const Folder folder;
  const std::string saved = folder.file("x.safetensors"), log = folder.file("x.jsonl");
  const auto signalled = [&](const std::string& before, const std::string& signals) {
    fs::remove(saved);
    fs::remove(log);
    return shell(before + " PROGRAM train " + tiny(folder) + kEndless + " --log " + log + " --save " + saved +
                 " >/dev/null 2>&1 & until [ -s " + log + " ]; do sleep 0.01; done; " + signals +
                 "; wait \\$!");
  };
  for (const char* signals : {"kill -TERM \\$!", "kill -HUP \\$!; kill -HUP \\$!"}) {
    INFO(signals);
    CHECK(signalled("", signals) == 130);
    REQUIRE(fs::exists(saved));
    const std::vector<int> steps = steps_in(log);
    CHECK(run_program("train --plan --resume " + saved).code == 0);
    REQUIRE_FALSE(steps.empty());
    CHECK(steps.back() == static_cast<int>(steps.size()));
  }
  CHECK(signalled("nohup", "kill -HUP \\$!; sleep 0.1; kill -TERM \\$!") == 130);
  CHECK(fs::exists(saved));
}

TEST_CASE("a log can be read while it grows, and goes on with the run that is resumed") {
  const Folder folder;
  const std::string saved = folder.file("x.safetensors"), log = folder.file("x.jsonl");
  REQUIRE(run_program("train " + tiny(folder) + " --steps 7 --log " + log + " --save " + saved).code == 0);
  const std::string before = read_all(log);
  REQUIRE(run_program("train --resume " + saved + " --steps 12 --log " + log).code == 0);
  CHECK(read_all(log).starts_with(before));
  CHECK(steps_in(log) == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const std::string notes = folder.write("notes.txt", "not a log");
  const Outcome refused = run_program("train --resume " + saved + " --steps 12 --log " + notes);
  CHECK(refused.code == 2);
  CHECK(is_one_error_line(refused));
  CHECK(read_all(notes) == "not a log");
}

TEST_CASE("data on the command line is all that train needs") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 400; ++i) text += "a text of one's own. ";
  CHECK(run_program("train --steps 1 --text " + folder.write("book.txt", text)).code == 0);
  CHECK(run_program("train --steps 1").code == 2);
}

TEST_CASE("a star stands for all layers in train, compare, edits and files") {
  const Folder folder;
  const std::string log = folder.file("x.jsonl"), attn = "stream=ln q=ln k=ln";
  REQUIRE(run_program("train " + tiny(folder) + " --set 'wiring.L*.attn=" + attn + "' --log " + log).code ==
          0);
  json spec = read_log(log).back()["spec"];
  CHECK(spec["model.placement"] == "custom");
  const std::string file = folder.write("star.toml", std::string(kTiny) + "[wiring]\n\"L*.attn\" = \"" +
                                                         attn + "\"\nL02.attn = \"stream=ln\"\n");
  const std::string other = folder.file("y.jsonl");
  REQUIRE(
      run_program("train --config " + file + " --save " + folder.file("y.safetensors") + " --log " + other)
          .code == 0);
  CHECK(read_log(other).front()["loss"] != read_log(log).front()["loss"]);
  if (has_command("compare")) {
    REQUIRE(run_program("compare --threads 1 " + tiny(folder) + " --set 'wiring.L*.attn=" + attn +
                        "' --out " + folder.file("out"))
                .code == 0);
    CHECK(read_log(folder.file("out/runs.jsonl")).front()["loss"] == read_log(log).front()["loss"]);
  }
  CHECK(run_program("train " + tiny(folder) + " --edit '6:wiring.L*=before=ln'").code == 0);
  CHECK(run_program("train --steps 14 --resume " + folder.file("y.safetensors") +
                    " --edit '13:wiring.L*.ffn=before=ln'")
            .code == 0);
  const Outcome none = run_program("train " + tiny(folder) + " --set wiring.X*=before=ln");
  CHECK(none.code == 2);
  CHECK(is_one_error_line(none));
}

TEST_CASE("a report of the lessons replaces none of their files") {
  const Folder folder;
  const std::string lessons = folder.file("lessons"), out = folder.file("report"),
                    text = lessons + "/05-growing-stream/explain.md";
  fs::copy(NORMSCOPE_SOURCE_DIR "/lessons", lessons, fs::copy_options::recursive);
  const std::string before = read_all(text);
  const auto report = [&](const std::string& more) {
    return run_program("lesson report --lessons " + lessons + " --out " + out + more);
  };
  fs::create_directories(out);
  for (const char* name : {"report.md", "growing-stream-stream.svg"}) {
    fs::create_symlink(text, out + "/" + name);
    const Outcome outcome = report("");
    INFO(name << " gave " << outcome.out << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(is_one_error_line(outcome));
    CHECK(contains(outcome.err, "--out " + out + "/" + name + ": a lesson reads this file"));
    fs::remove(out + "/" + name);
  }
  CHECK(contains(report(" --readme " + text).err, "--page " + text + ": a lesson reads this file"));
  CHECK(contains(report(" --readme " + out + "/claims.md").err, "--out writes this file"));
  CHECK(read_all(text) == before);
  CHECK(fs::is_empty(out));
  // A folder of a lesson may hold its report.
  CHECK(run_program("lesson report --lessons " + lessons + " --out " + lessons + "/05-growing-stream").code ==
        0);
  CHECK(read_all(text) == before);
}
