#include "telemetry/metrics_markdown.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace zerohop {
namespace {

constexpr const char* kDocument = "docs/METRICS.md";

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(MetricsMarkdown, CommittedDocumentIsUpToDate) {
  if (std::getenv("ZEROHOP_GOLDEN_UPDATE") != nullptr) {
    std::ofstream(kDocument, std::ios::binary) << metrics_markdown();
  }
  EXPECT_EQ(read_file(kDocument), metrics_markdown())
      << "run again with ZEROHOP_GOLDEN_UPDATE=1 to write " << kDocument << " anew";
}

}  // namespace
}  // namespace zerohop
