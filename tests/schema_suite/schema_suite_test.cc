// The JSON-Schema-Test-Suite against a committed ratchet: per file how many tests are answered
// right, how many instances are wrongly accepted or wrongly rejected, how many tests have a schema
// that is refused, and why. Nothing may get worse than ratchet.txt. ZEROHOP_WRITE_RATCHET=1 writes
// the file anew.
//
// Each instance is written in several styles and asked byte by byte and token by token
// (document_judge.h): right is only what every way answers right.
//
// Formats are asserted in optional/format and are annotations elsewhere, as the suite means it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "constrain/schema_compiler.h"
#include "document_judge.h"

namespace zerohop {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuite = "../shared/data/json-schema-test-suite";
constexpr const char* kRatchet = "tests/schema_suite/ratchet.txt";

struct Counts {
  int right = 0;
  int over = 0;   // wrongly accepted
  int under = 0;  // wrongly rejected
  int refused = 0;
  std::map<std::string, int> reasons = {};  // of what is refused
};
using Table = std::map<std::string, Counts>;  // by file

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

SchemaOptions options_of(const std::string& draft) {
  SchemaOptions options;
  const std::map<std::string, SchemaDraft> drafts = {{"draft4", SchemaDraft::k4},
                                                     {"draft6", SchemaDraft::k6},
                                                     {"draft7", SchemaDraft::k7},
                                                     {"draft2019-09", SchemaDraft::k2019},
                                                     {"draft2020-12", SchemaDraft::k2020}};
  options.draft = drafts.at(draft);
  const fs::path remotes = fs::path(kSuite) / "remotes";
  for (const fs::path& path : json_files(remotes)) {
    const std::string name = fs::relative(path, remotes).string();
    options.known.push_back({"http://localhost:1234/" + name, read_file(path)});
  }
  return options;
}

// "keyword: reason", without the parts that name a place or a value.
std::string reason_of(const SchemaRefusal& refusal) {
  const std::string reason = refusal.reason.substr(0, refusal.reason.find_first_of(":'\""));
  return (refusal.keyword.empty() ? "schema" : refusal.keyword) + ": " + reason;
}

class SuiteRun {
 public:
  Table run() {
    const fs::path tests = fs::path(kSuite) / "tests";
    for (const char* draft : {"draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"}) {
      options_ = options_of(draft);
      for (const fs::path& path : json_files(tests / draft)) {
        options_.assert_formats = path.string().find("optional/format/") != std::string::npos;
        file(path, fs::relative(path, tests).string());
      }
    }
    return std::move(table_);
  }

 private:
  void file(const fs::path& path, const std::string& name) {
    const auto groups = parse_json_node(read_file(path));
    ASSERT_TRUE(groups.ok()) << name;
    name_ = name;
    for (const JsonNode& each : groups->items) group(each, table_[name]);
  }

  void group(const JsonNode& group, Counts& counts) {
    const JsonNode& tests = *group.find("tests");
    const CompiledSchema compiled = compile_schema(to_json_text(*group.find("schema")), options_);
    if (const auto* refusal = std::get_if<SchemaRefusal>(&compiled)) {
      if (refusal->kind != SchemaRefusal::Kind::kUnsatisfiable) {
        counts.refused += static_cast<int>(tests.items.size());
        counts.reasons[reason_of(*refusal)] += static_cast<int>(tests.items.size());
        return;
      }
      for (const JsonNode& test : tests.items) ++(valid(test) ? counts.under : counts.right);
      return;
    }
    DocumentJudge judge(std::get<std::shared_ptr<const SchemaForm>>(compiled),
                        {.vocabulary = default_vocabulary(),
                         .spelling_of_numbers_is_free = options_.draft != SchemaDraft::k4,
                         .masks_every = 64});
    for (const JsonNode& test : tests.items) {
      const DocumentJudge::Verdict verdict = judge.judge(*test.find("data"));
      for (const std::string& each : verdict.disagreements) {
        ADD_FAILURE() << name_ << " (" << group.find("description")->text << "): " << each;
      }
      if (!valid(test)) {
        ++(verdict.ever ? counts.over : counts.right);
      } else {
        ++(verdict.always ? counts.right : counts.under);
      }
    }
  }

  static bool valid(const JsonNode& test) { return test.find("valid")->is(JsonNode::Type::kTrue); }

  SchemaOptions options_;
  std::string name_;
  Table table_;
};

Table read_ratchet() {
  Table table;
  std::ifstream file(kRatchet);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string name;
    Counts counts;
    if (line.starts_with('#')) continue;
    if (words >> name >> counts.right >> counts.over >> counts.under >> counts.refused) {
      table[name] = counts;
    }
  }
  return table;
}

void write_ratchet(const Table& table) {
  std::ofstream file(kRatchet);
  file << "# file right wrongly-accepted wrongly-rejected refused | reason of refusals xtests\n";
  for (const auto& [name, counts] : table) {
    file << name << ' ' << counts.right << ' ' << counts.over << ' ' << counts.under << ' '
         << counts.refused;
    for (const auto& [reason, count] : counts.reasons) file << " | " << reason << " x" << count;
    file << '\n';
  }
}

Counts sum_of(const Table& table, const std::string& draft) {
  Counts sum;
  for (const auto& [name, counts] : table) {
    if (!name.starts_with(draft + "/")) continue;
    sum.right += counts.right;
    sum.over += counts.over;
    sum.under += counts.under;
    sum.refused += counts.refused;
  }
  return sum;
}

TEST(SchemaSuite, GetsNoTestWrongThatItGotRightBefore) {
  const Table table = SuiteRun().run();
  if (std::getenv("ZEROHOP_WRITE_RATCHET") != nullptr) write_ratchet(table);
  const Table ratchet = read_ratchet();
  ASSERT_FALSE(ratchet.empty());
  for (const auto& [name, before] : ratchet) {
    const auto now = table.find(name);
    ASSERT_NE(now, table.end()) << name;
    EXPECT_GE(now->second.right, before.right) << name;
    EXPECT_LE(now->second.over, before.over) << name;
    EXPECT_LE(now->second.under, before.under) << name;
  }
  for (const char* draft : {"draft2020-12", "draft2019-09", "draft7", "draft6", "draft4"}) {
    const Counts sum = sum_of(table, draft);
    EXPECT_EQ(sum.over, 0) << draft;
    std::printf("%s: %d right, %d over, %d under, %d refused\n", draft, sum.right, sum.over,
                sum.under, sum.refused);
  }
}

}  // namespace
}  // namespace zerohop
