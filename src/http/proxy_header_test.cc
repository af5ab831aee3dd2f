#include "http/proxy_header.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>

#include "http/proxy_header_check.h"

namespace zerohop {
namespace {

using State = ProxyScan::State;

// ---- Making headers of version 2 ----

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out.push_back(static_cast<char>(value));
  return out;
}

std::string v2(int version_and_command, int family, const std::string& rest) {
  std::string out("\r\n\r\n\0\r\nQUIT\n", 12);
  out += bytes({version_and_command, family, static_cast<int>(rest.size() >> 8),
                static_cast<int>(rest.size() & 0xff)});
  return out + rest;
}

std::string tlv(int type, const std::string& value) {
  return bytes({type, static_cast<int>(value.size() >> 8), static_cast<int>(value.size() & 0xff)}) +
         value;
}

const std::string& four() {
  static const std::string kAddresses =
      bytes({192, 0, 2, 1, 198, 51, 100, 7, 0x1f, 0x90, 0x01, 0xbb});
  return kAddresses;
}

std::string six() {
  std::string source = bytes({0x20, 0x01, 0x0d, 0xb8});
  source.resize(15, '\0');
  source += bytes({1});
  return source + source + bytes({0x1f, 0x90, 0x01, 0xbb});
}

void expect_source(const std::string& header, std::string_view source) {
  const ProxyScan scan = check_proxy_header(header + "GET / HTTP/1.1\r\n");
  EXPECT_EQ(scan.state, State::kHeader) << scan.fault;
  EXPECT_EQ(scan.bytes, header.size());
  EXPECT_EQ(scan.source.text(), source);
}

void expect_fault(const std::string& header) {
  const ProxyScan scan = check_proxy_header(header);
  EXPECT_EQ(scan.state, State::kFailed) << header;
}

// ---- Version 1 ----

TEST(ProxyHeader, ReadsLinesOfVersion1) {
  expect_source("PROXY TCP4 192.0.2.1 198.51.100.7 8080 443\r\n", "192.0.2.1");
  expect_source("PROXY TCP6 2001:db8::1 2001:db8::2 0 65535\r\n", "2001:db8::1");
  expect_source("PROXY TCP6 ::ffff:192.0.2.1 ::ffff:192.0.2.2 1 2\r\n", "192.0.2.1");
  expect_source("PROXY UNKNOWN\r\n", "");
  expect_source("PROXY UNKNOWN ffff::1 whatever 1 2\r\n", "");
}

TEST(ProxyHeader, RefusesLinesThatAreNotExact) {
  for (const char* line : {
           "PROXY TCP4 192.0.2.1 198.51.100.7 8080 443\n",
           "PROXY TCP4 192.0.2.1 198.51.100.7 8080\r\n",
           "PROXY TCP4 192.0.2.1 198.51.100.7 8080 443 \r\n",
           "PROXY TCP4  192.0.2.1 198.51.100.7 8080 443\r\n",
           "PROXY TCP4 192.0.2.1 198.51.100.7 8080 65536\r\n",
           "PROXY TCP4 192.0.2.1 198.51.100.7 080 443\r\n",
           "PROXY TCP4 192.0.2.1 198.51.100.7 +80 443\r\n",
           "PROXY TCP4 192.0.2.1 198.51.100.7 80 \r\n",
           "PROXY TCP4 192.0.2.01 198.51.100.7 80 443\r\n",
           "PROXY TCP4 192.0.2.256 198.51.100.7 80 443\r\n",
           "PROXY TCP4 2001:db8::1 2001:db8::2 80 443\r\n",
           "PROXY TCP6 192.0.2.1 198.51.100.7 80 443\r\n",
           "PROXY UDP4 192.0.2.1 198.51.100.7 80 443\r\n",
           "PROXY tcp4 192.0.2.1 198.51.100.7 80 443\r\n",
           "PROXY UNKNOWNS\r\n",
           "PROXY \r\n",
           "PROXY TCP4\t192.0.2.1 198.51.100.7 80 443\r\n",
       }) {
    expect_fault(line);
  }
}

TEST(ProxyHeader, AllowsALineOf107BytesAndNotMore) {
  const std::string start = "PROXY UNKNOWN ";
  expect_source(start + std::string(105 - start.size(), 'x') + "\r\n", "");
  expect_fault(start + std::string(106 - start.size(), 'x') + "\r\n");
  expect_fault(start + std::string(500, 'x'));
}

// ---- Version 2 ----

TEST(ProxyHeader, ReadsHeadersOfVersion2) {
  expect_source(v2(0x21, 0x11, four()), "192.0.2.1");
  expect_source(v2(0x21, 0x21, six()), "2001:db8::1");
  expect_source(v2(0x21, 0x31, std::string(216, 'u')), "");
  expect_source(v2(0x21, 0x00, ""), "");
  expect_source(v2(0x21, 0x00, "anything at all"), "");
  expect_source(v2(0x21, 0x11, four() + tlv(0x02, "example.org") + tlv(0xea, "")), "192.0.2.1");
}

TEST(ProxyHeader, LeavesTheAddressAloneWhereTheBalancerSpeaksForItself) {
  expect_source(v2(0x20, 0x00, ""), "");
  expect_source(v2(0x20, 0x11, four()), "");
}

TEST(ProxyHeader, RefusesUnknownVersionsCommandsAndFamilies) {
  expect_fault(v2(0x11, 0x11, four()));
  expect_fault(v2(0x31, 0x11, four()));
  expect_fault(v2(0x22, 0x11, four()));
  expect_fault(v2(0x2f, 0x11, four()));
  expect_fault(v2(0x21, 0x12, four()));
  expect_fault(v2(0x21, 0x22, six()));
  expect_fault(v2(0x21, 0x41, four()));
  expect_fault(v2(0x21, 0x10, four()));
}

TEST(ProxyHeader, RefusesHeadersWithoutRoomForWhatTheyPromise) {
  expect_fault(v2(0x21, 0x11, four().substr(0, 11)));
  expect_fault(v2(0x21, 0x21, six().substr(0, 35)));
  expect_fault(v2(0x21, 0x31, std::string(215, 'u')));
  expect_fault(v2(0x21, 0x11, four() + bytes({4})));
  expect_fault(v2(0x21, 0x11, four() + bytes({4, 0})));
  expect_fault(v2(0x21, 0x11, four() + bytes({4, 0, 2, 7})));
}

TEST(ProxyHeader, IsBoundedWhateverLengthItTells) {
  std::string longest = v2(0x21, 0x11, four() + tlv(0x04, std::string(4'096 - 16 - 12 - 3, 'n')));
  ASSERT_EQ(longest.size(), kProxyV2BytesMax);
  expect_source(longest, "192.0.2.1");
  expect_fault(v2(0x21, 0x11, four() + tlv(0x04, std::string(4'096 - 16 - 12 - 2, 'n'))));
  expect_fault(v2(0x21, 0x11, std::string(65'535, 'n')).substr(0, 16));
}

TEST(ProxyHeader, ChecksTheChecksumWhereThereIsOne) {
  // From the algorithm's definition: CRC32C of the header with four zeros in its place.
  std::string header = v2(0x21, 0x11, four() + tlv(0x03, bytes({0, 0, 0, 0})));
  std::uint32_t crc = 0xffffffff;
  for (const char c : header) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = (crc & 1) != 0 ? crc >> 1 ^ 0x82f63b78U : crc >> 1;
  }
  crc = ~crc;
  for (int i = 0; i < 4; ++i) {
    header[header.size() - 4 + static_cast<std::size_t>(i)] =
        static_cast<char>(crc >> (24 - 8 * i) & 0xff);
  }
  expect_source(header, "192.0.2.1");
  header[16] = static_cast<char>(header[16] ^ 1);
  expect_fault(header);
  expect_fault(v2(0x21, 0x11, four() + tlv(0x03, "abc")));
}

// ---- Neither ----

TEST(ProxyHeader, KnowsWhatIsNone) {
  for (const std::string_view text :
       {"GET / HTTP/1.1\r\n", "POST", "PROXIMITY", "\x16\x03\x01", "\r\nGET / HTTP/1.1\r\n",
        "\r\n\r\nGET", "proxy TCP4 192.0.2.1 198.51.100.7 80 443\r\n"}) {
    EXPECT_EQ(check_proxy_header(text).state, State::kNone) << text;
  }
  for (const std::string_view text : {"", "P", "PROXY", "PROXY ", "\r\n", "\r\n\r\n"}) {
    EXPECT_EQ(check_proxy_header(text).state, State::kNeedMore) << text;
  }
}

TEST(ProxyHeader, SaysTheSameOfTheCorpusWhereverItIsCut) {
  int headers = 0;
  int faults = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/corpus/proxy_header")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    const State state = check_proxy_header(text).state;
    headers += state == State::kHeader ? 1 : 0;
    faults += state == State::kFailed ? 1 : 0;
  }
  EXPECT_GE(headers, 6);
  EXPECT_GE(faults, 5);
}

}  // namespace
}  // namespace zerohop
