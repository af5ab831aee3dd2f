#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>

#include "base/utf8.h"

namespace zerohop {
namespace {

class DropText final : public Redactor {
 public:
  std::string redact(std::string_view text) const override {
    return "[" + std::to_string(text.size()) + " bytes]";
  }
};

struct LogState {
  std::shared_ptr<spdlog::logger> logger;
  std::atomic<LogFormat> format{LogFormat::kText};
  std::mutex mutex;
  std::shared_ptr<const Redactor> redactor = std::make_shared<DropText>();  // guarded by mutex

  LogState() {
    logger = std::make_shared<spdlog::logger>("zerohop",
                                              std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern("%v");
    logger->flush_on(spdlog::level::trace);
  }
};

// Never destroyed: threads may log while the process ends.
LogState& state() {
  static auto* instance = new LogState;
  return *instance;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: break;
  }
  return spdlog::level::off;
}

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
    case LogLevel::kOff: break;
  }
  return "off";
}

// Both formats quote the same way: JSON string escapes keep one event on one line. A value may come
// from the operating system (a path) and be no UTF-8, which JSON must be.
void append_quoted(std::string& out, std::string_view text) {
  std::string repaired;
  if (!utf8_is_valid(text)) {
    repaired = utf8_replace_invalid(text);
    text = repaired;
  }
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20 || byte == 0x7f) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", byte);
      out.append(buffer);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

std::string timestamp() {
  const auto now = spdlog::log_clock::now();
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  const std::time_t seconds = spdlog::log_clock::to_time_t(now);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>(since.count() % 1000));
  return buffer;
}

std::string as_json(LogLevel level, std::string_view event, const std::vector<LogField>& fields) {
  std::string line = "{\"time\":\"" + timestamp() + "\",\"level\":\"";
  line.append(level_name(level));
  line.append("\",\"event\":");
  append_quoted(line, event);
  for (const LogField& field : fields) {
    line.push_back(',');
    append_quoted(line, field.key);
    line.push_back(':');
    if (field.kind == LogValue::kNumber) {
      line.append(field.value);
    } else {
      append_quoted(line, field.value);
    }
  }
  line.push_back('}');
  return line;
}

// Needs no quotes, behind which control characters would be escaped.
bool is_plain(std::string_view value) {
  return !value.empty() && value.find_first_of(" \"\\=") == value.npos &&
         std::ranges::none_of(value, [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte < 0x20 || byte == 0x7f;
         });
}

std::string as_text(LogLevel level, std::string_view event, const std::vector<LogField>& fields) {
  std::string line = timestamp() + " ";
  line.append(level_name(level));
  line.push_back(' ');
  line.append(event);
  for (const LogField& field : fields) {
    line.push_back(' ');
    line.append(field.key);
    line.push_back('=');
    if (is_plain(field.value)) {
      line.append(field.value);
    } else {
      append_quoted(line, field.value);
    }
  }
  return line;
}

}  // namespace

void log_configure(const LogOptions& options) {
  state().logger->set_level(to_spdlog(options.level));
  state().format = options.format;
}

void log_set_redactor(std::shared_ptr<const Redactor> redactor) {
  const std::scoped_lock lock(state().mutex);
  state().redactor = std::move(redactor);
}

namespace {

std::shared_ptr<const Redactor> current_redactor() {
  const std::scoped_lock lock(state().mutex);
  return state().redactor;
}

}  // namespace

std::string log_text(std::string_view text) { return current_redactor()->redact(text); }

bool log_enabled(LogLevel level) { return state().logger->should_log(to_spdlog(level)); }

void log_event(LogLevel level, std::string_view event, std::vector<LogField> fields) {
  if (!log_enabled(level)) return;
  LogState& log = state();
  const std::shared_ptr<const Redactor> redactor = current_redactor();
  for (LogField& field : fields) {
    if (field.kind == LogValue::kText) field.value = redactor->scrub(std::move(field.value));
  }
  const std::string line = log.format.load() == LogFormat::kJson ? as_json(level, event, fields)
                                                                 : as_text(level, event, fields);
  log.logger->log(to_spdlog(level), "{}", line);
}

}  // namespace zerohop
