// Fuzz target: any header lines ("name: value") in front of the door. Whatever they are, a
// credential is printable and of limited length, only the one good key is let in, and no refusal
// repeats what was sent. Seeds: tests/corpus/key_gate/, where KEY stands for the good key.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "app/key_gate.h"
#include "base/check.h"

namespace zerohop {
namespace {

struct Door {
  Door() {
    KeyStoreContents contents;
    contents.secret = "secret";
    contents.had_keys = true;
    contents.tenants.emplace_back();
    KeyRecord key;
    key.hash = KeyHasher(contents.secret).hash(kGood);
    contents.keys.push_back(std::move(key));
    gate.ring().set(std::make_shared<const KeyRing>(std::move(contents)));
  }

  static constexpr std::string_view kGood = "sk-zh-0123456789abcdefghijABCDEFGHIJ01";

  VirtualClock clock;
  Config config;
  MetricsRegistry registry{{}};
  Metrics metrics{registry};
  KeyGate gate{{&config, &clock, &metrics, 1}};
};

RequestHead head_of(std::string_view lines) {
  RequestHead head;
  head.path = "/v1/messages";
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    const std::size_t colon = std::min(line.find(": "), line.size());
    std::string value(line.substr(std::min(colon + 2, line.size())));
    const std::size_t mark = value.find("KEY");
    if (mark != value.npos) value.replace(mark, 3, Door::kGood);
    head.headers.add(std::string(line.substr(0, colon)), std::move(value));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return head;
}

void check_refusal(const RequestHead& head, const Error& error) {
  ZH_CHECK(error.code == ErrorCode::kAuthentication || error.code == ErrorCode::kRateLimited);
  for (const HeaderField& field : head.headers) {
    ZH_CHECK(field.value.size() < kKeyCharacters ||
             error.message.find(field.value) == error.message.npos);
  }
}

}  // namespace
}  // namespace zerohop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace zerohop;
  static Door door;
  const RequestHead head = head_of({reinterpret_cast<const char*>(data), size});
  const Result<Credential> credential = read_credential(head.headers);
  if (credential.ok()) {
    ZH_CHECK(credential->text.size() <= 512);
    for (const char c : credential->text) ZH_CHECK(c > 0x20 && c < 0x7f);
  } else {
    check_refusal(head, credential.error());
  }
  const Result<Caller> caller = door.gate.check(head);
  const bool good = credential.ok() && credential->text == Door::kGood;
  ZH_CHECK(caller.ok() == good);
  if (!caller.ok()) check_refusal(head, caller.error());
  return 0;
}
