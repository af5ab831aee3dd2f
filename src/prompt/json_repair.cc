#include "prompt/json_repair.h"

#include "constrain/json_text.h"

namespace zerohop {
namespace {

bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

// How many bytes at the front a string can hold as they are.
std::size_t plain_size(std::string_view bytes) {
  std::size_t size = 0;
  while (size < bytes.size() && static_cast<unsigned char>(bytes[size]) >= 0x20 &&
         bytes[size] != '"' && bytes[size] != '\\') {
    ++size;
  }
  return size;
}

}  // namespace

std::size_t JsonRepair::feed(std::string_view bytes, std::string& json) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !complete_ && !broken_) {
    if (prefix_.in_string() && !prefix_.in_escape() && !backslash_) {
      const std::string_view run = bytes.substr(taken, plain_size(bytes.substr(taken)));
      if (!run.empty()) {
        accept(run, json);
        taken += run.size();
        continue;
      }
    }
    if (step(bytes[taken], json)) {
      ++taken;
      complete_ = prefix_.complete() && !prefix_.in_number();
    } else {
      complete_ = prefix_.complete();
      broken_ = !complete_;
    }
  }
  return taken;
}

bool JsonRepair::accept(std::string_view bytes, std::string& json) {
  if (prefix_.feed(bytes) != bytes.size()) return false;
  json += bytes;
  return true;
}

bool JsonRepair::step(char byte, std::string& json) {
  if (backslash_) return step_behind_backslash(byte, json);
  if (!comma_.empty()) return step_behind_comma(byte, json);
  if (prefix_.in_string() && !prefix_.in_escape()) {
    if (byte == '\\') {
      backslash_ = true;
      return true;
    }
    if (static_cast<unsigned char>(byte) < 0x20) {
      std::string escaped;
      append_json_escaped(escaped, {&byte, 1});
      return accept(escaped, json);
    }
  }
  if (byte == ',' && prefix_.takes_comma()) {
    comma_ = byte;
    return true;
  }
  return accept({&byte, 1}, json);
}

bool JsonRepair::step_behind_backslash(char byte, std::string& json) {
  constexpr std::string_view kEscapes = "\"\\/bfnrtu";
  backslash_ = false;
  if (kEscapes.find(byte) != std::string_view::npos) {
    const char escape[] = {'\\', byte};
    return accept({escape, 2}, json);
  }
  if (byte != '\'') accept("\\\\", json);
  return step(byte, json);
}

bool JsonRepair::step_behind_comma(char byte, std::string& json) {
  if (is_space(byte)) {
    comma_ += byte;
    return true;
  }
  constexpr std::string_view kValueBegins = "{[\"-0123456789tfn";
  const bool goes_on =
      prefix_.in_object() ? byte == '"' : kValueBegins.find(byte) != std::string_view::npos;
  if (goes_on) {
    comma_ += byte;
    JsonPrefix after = prefix_;  // the value may be refused (depth), and then so is the comma
    const bool accepted = after.feed(comma_) == comma_.size();
    if (accepted) {
      prefix_ = after;
      json += comma_;
    }
    comma_.clear();
    return accepted;
  }
  comma_.clear();
  return (byte == '}' || byte == ']') && accept({&byte, 1}, json);
}

void JsonRepair::close(std::string& json) const {
  if (!complete_) json += prefix_.closing();
}

void JsonRepair::assume_shown() {
  if (backslash_) prefix_.feed("\\");
  prefix_.feed(comma_);
  backslash_ = false;
  comma_.clear();
}

}  // namespace zerohop
