#include "base/log.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

namespace zerohop {
namespace {

// What `write` puts on standard error, without the time stamp, which must have its form.
std::string logged(const LogOptions& options, const std::function<void()>& write) {
  log_configure(options);
  testing::internal::CaptureStderr();
  write();
  std::string text = testing::internal::GetCapturedStderr();
  log_configure({});
  const std::size_t stamp = text.find_first_of("0123456789");
  if (stamp == std::string::npos) return text;
  EXPECT_EQ(text.substr(stamp + 4, 1) + text.substr(stamp + 10, 1) + text.substr(stamp + 23, 1),
            "-TZ");
  return text.erase(stamp, 24);
}

TEST(Log, WritesOneTextLine) {
  const std::string line = logged({LogLevel::kInfo, LogFormat::kText}, [] {
    log_info("engine ready", {{"sequences", "eight"}, {"model", "a b"}, {"empty", ""}});
  });
  EXPECT_EQ(line, " info engine ready sequences=eight model=\"a b\" empty=\"\"\n");
}

TEST(Log, WritesOneJsonLine) {
  const std::string line = logged({LogLevel::kInfo, LogFormat::kJson}, [] {
    log_warning("slow step", {{"why", "neighbour"}});
  });
  EXPECT_EQ(
      line,
      "{\"time\":\"\",\"level\":\"warning\",\"event\":\"slow step\",\"why\":\"neighbour\"}\n");
}

TEST(Log, WritesNumbersAsNumbersInJsonOnly) {
  const auto write = [] {
    log_info("x", {{"n", "12.5", LogValue::kNumber}, {"b", "true", LogValue::kNumber}});
  };
  EXPECT_EQ(logged({LogLevel::kInfo, LogFormat::kJson}, write),
            "{\"time\":\"\",\"level\":\"info\",\"event\":\"x\",\"n\":12.5,\"b\":true}\n");
  EXPECT_EQ(logged({LogLevel::kInfo, LogFormat::kText}, write), " info x n=12.5 b=true\n");
}

TEST(Log, KeepsAnEventOnOneLineWhateverItsValuesHold) {
  const std::string line = logged({LogLevel::kInfo, LogFormat::kText}, [] {
    log_info("x", {{"v", "a\nb\"c\\d\x7f\x01"}});
  });
  EXPECT_EQ(line, " info x v=\"a\\u000ab\\\"c\\\\d\\u007f\\u0001\"\n");
}

TEST(Log, WritesValidUtf8WhateverItsValuesHold) {
  const std::string line = logged({LogLevel::kInfo, LogFormat::kJson}, [] {
    log_info("x", {{"v", "\xc3\xa9 \xc3("}});
  });
  EXPECT_EQ(
      line,
      "{\"time\":\"\",\"level\":\"info\",\"event\":\"x\",\"v\":\"\xc3\xa9 \xef\xbf\xbd(\"}\n");
}

TEST(Log, DropsWhatIsBelowItsLevel) {
  const auto write = [] {
    log_debug("a");
    log_info("b");
    log_warning("c");
    log_error("d");
  };
  EXPECT_EQ(logged({LogLevel::kError, LogFormat::kText}, write), " error d\n");
  EXPECT_EQ(logged({LogLevel::kOff, LogFormat::kText}, write), "");
}

TEST(Log, SaysBeforehandWhatItWouldWrite) {
  logged({LogLevel::kWarning, LogFormat::kText}, [] {
    EXPECT_FALSE(log_enabled(LogLevel::kInfo));
    EXPECT_TRUE(log_enabled(LogLevel::kWarning));
  });
}

TEST(Log, DropsClientTextByDefaultAndKeepsItsLength) {
  EXPECT_EQ(log_text("my secret"), "[9 bytes]");
}

class Shout final : public Redactor {
 public:
  std::string redact(std::string_view text) const override { return std::string(text) + "!"; }
};

class Length final : public Redactor {
 public:
  std::string redact(std::string_view text) const override {
    return "[" + std::to_string(text.size()) + " bytes]";
  }
};

class NoDigits final : public Redactor {
 public:
  std::string redact(std::string_view text) const override { return std::string(text); }
  std::string scrub(std::string value) const override {
    for (char& c : value) {
      if (c >= '0' && c <= '9') c = '#';
    }
    return value;
  }
};

TEST(Log, ShowsEveryTextValueToTheRedactorBeforeItIsWritten) {
  log_set_redactor(std::make_shared<NoDigits>());
  const std::string line = logged({LogLevel::kInfo, LogFormat::kText}, [] {
    log_info("x", {{"v", "a1b2"}, {"n", "34", LogValue::kNumber}});
  });
  log_set_redactor(std::make_shared<Length>());  // like the default, for the tests that follow
  EXPECT_EQ(line, " info x v=a#b# n=34\n");
}

TEST(Log, HandsClientTextToTheInstalledRedactor) {
  log_set_redactor(std::make_shared<Shout>());
  EXPECT_EQ(log_text("hey"), "hey!");
  log_set_redactor(std::make_shared<Length>());  // like the default, for the tests that follow
  EXPECT_EQ(log_text("hey"), "[3 bytes]");
}

}  // namespace
}  // namespace zerohop
