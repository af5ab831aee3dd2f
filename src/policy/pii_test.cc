#include "policy/pii.h"

#include <gtest/gtest.h>

#include <string>

#include "policy/redact.h"

namespace zerohop {
namespace {

struct Found {
  std::string_view text;
  std::string_view redacted;
};

// ---- What must be found ----

class PiiFound : public testing::TestWithParam<Found> {};

TEST_P(PiiFound, IsReplacedByItsKindAndNothingElseIs) {
  EXPECT_EQ(redact_pii(std::string(GetParam().text)), GetParam().redacted);
}

INSTANTIATE_TEST_SUITE_P(
    Emails, PiiFound,
    testing::Values(
        Found{"jo@example.org", "[email]"},
        Found{"mail jo.doe+tag@mail.example.co.uk!", "mail [email]!"},
        Found{"<mailto:jo_1@example.org>", "<mailto:[email]>"},
        Found{"user=jo%40example.com&x=1", "user=[email]&x=1"},
        Found{"qq 1234567@163.com", "qq [email]"}, Found{"jo@xn--bcher-kva.example.", "[email]."},
        Found{"jo@b\xc3\xbc"
              "cher.example",
              "[email]"},
        Found{"a@b.de,c@d.fr", "[email],[email]"}, Found{"'o'neil@example.ie'", "'[email]'"},
        Found{"\xe7\x94\xa8\xe6\x88\xb7@\xe4\xbe\x8b\xe5\xad\x90.\xe4\xb8\xad\xe5\x9b\xbd",
              "[email]"}));

INSTANTIATE_TEST_SUITE_P(
    Phones, PiiFound,
    testing::Values(Found{"call +49 30 901820 now", "call [phone] now"},
                    Found{"+14155552671", "[phone]"}, Found{"tel:+44-20-7946-0958", "tel:[phone]"},
                    Found{"+86 138 1234 5678", "[phone]"}, Found{"+33 (0)1 23 45 67 89", "[phone]"},
                    Found{"0049 30 901820", "[phone]"}, Found{"00491511234567", "[phone]"},
                    Found{"(202) 555-0143", "[phone]"}, Found{"202-555-0143", "[phone]"},
                    Found{"1-202-555-0143", "[phone]"}, Found{"202.555.0143x99", "[phone]x99"},
                    Found{"020 7946 0958", "[phone]"}, Found{"01 23 45 67 89", "[phone]"},
                    Found{"0151-23456789", "[phone]"}, Found{"13812345678", "[phone]"},
                    Found{"138-1234-5678", "[phone]"}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, PiiFound,
    testing::Values(Found{"card 4111 1111 1111 1111 12/25", "card [card] 12/25"},
                    Found{"4111-1111-1111-1111", "[card]"}, Found{"5555555555554444", "[card]"},
                    Found{"378282246310005", "[card]"}, Found{"6011111111111117", "[card]"},
                    Found{"6200000000000005", "[card]"}, Found{"30569309025904", "[card]"},
                    Found{"DE89 3704 0044 0532 0130 00", "[iban]"},
                    Found{"GB82WEST12345698765432.", "[iban]."},
                    Found{"iban gb82west12345698765432", "iban [iban]"}));

INSTANTIATE_TEST_SUITE_P(
    Secrets, PiiFound,
    testing::Values(
        Found{"x-api-key: sk-zh-4T7bKq1234567890abcdefghijklmnop", "x-api-key: [secret]"},
        Found{"key sk-ant-api03-Abc_12345678901234567890-xyz", "key [secret]"},
        Found{"Authorization: Bearer abc123.def456-xyz", "Authorization: Bearer [secret]"},
        Found{"authorization: Basic dXNlcjpwYXNzd29yZDE=", "authorization: Basic [secret]"},
        Found{"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "[secret]"},
        Found{"id AKIAIOSFODNN7EXAMPLE", "id [secret]"},
        Found{"use SG.abcDEF1234567890abcdef.abcDEF1234567890abcdefghijklmnopqrstuvwxyzA",
              "use [secret]"},
        Found{"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
              "aws_secret_access_key = [secret]"},
        Found{"AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", "[secret]"},
        Found{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl1", "[secret]"},
        Found{R"({"password":"hunter22","x":1})", R"({"password":"[secret]","x":1})"},
        Found{"db_password=correct-horse-battery", "db_password=[secret]"},
        Found{"https://jo:pa55@host/x", "https://[secret]@host/x"},
        Found{"xoxb-123456789012-abcdefghij", "[secret]"},
        Found{"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest",
              "[secret]\nrest"},
        Found{"-----BEGIN PRIVATE KEY-----\\nMIIEcut", "[secret]"}));

// ---- What looks like it and is not ----

class PiiNotFound : public testing::TestWithParam<std::string_view> {};

TEST_P(PiiNotFound, StaysAsItIs) { EXPECT_EQ(redact_pii(std::string(GetParam())), GetParam()); }

INSTANTIATE_TEST_SUITE_P(NoEmails, PiiNotFound,
                         testing::Values("@user said", "root@localhost", "lodash@4.17.21",
                                         "x@1.2.3.4", "a @ b.c", "me@", "@example.org", "a@b.c",
                                         "std::map<int>@2x", "f(x) @ g.h"));

INSTANTIATE_TEST_SUITE_P(
    NoPhones, PiiNotFound,
    testing::Values("2024-01-31T10:20:30.123456Z", "2024-01-31 10:20:30", "192.168.100.200",
                    "127.0.0.1:8080", "1.2.3-4567", "1700000000", "1700000000000",
                    "1700000000000000000", "req 4815162342", "x+12345678", "2024-01-01T00:00+0100",
                    "3.14159265358979", "01.02.2024", "01.02.2024 10:30", "12 34 56 78",
                    "10,000,000 tokens", "v1.10.0-20240101", "0x00491511234567",
                    "max_tokens: 1234567890", "550e8400-e29b-41d4-a716-446655440000", "1234-5678",
                    "[1, 22, 333, 4444, 55555]", "102-555-0143", "0.0 0.00 0.000"));

INSTANTIATE_TEST_SUITE_P(NoNumbers, PiiNotFound,
                         testing::Values("4111111111111112", "1234567890123456", "9999999999999995",
                                         "4111111111111111111111111", "a4111111111111111",
                                         "0.4111111111111111", "DE89370400440532013001",
                                         "GB82WEST1234569876543", "IT IS 2024 NOW OK",
                                         "abcdef1234567890abcdef1234567890abcdef12"));

INSTANTIATE_TEST_SUITE_P(
    NoSecrets, PiiNotFound,
    testing::Values("token: invalid", "the secret is patience", "password=", "max_tokens=4096",
                    "tokens: 123456", "token=123456", "secret santa 2024", "bearer of bad news",
                    "Bearer", "sk-learn", "sk-", "disk-1234567890123456789",
                    "task-force-12345678901234", "https://host:8080/path@2x",
                    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
                    "basic research", "eyJ", "req_0123456789abcdefABCDEF01",
                    "msg_01XFDUDYJgAACzvnptvVoYEL", "toolu_01D7FLrfh4GYq7yT1ULFeyMV",
                    "password: required", "api_key: missing"));

// ---- The scanner as a whole ----

TEST(FindPii, TellsPlacesFromLeftToRight) {
  const auto spans = find_pii("mail jo@example.org or +49 30 901820");
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0], (PiiSpan{PiiKind::kEmail, 5, 19}));
  EXPECT_EQ(spans[1], (PiiSpan{PiiKind::kPhone, 23, 36}));
}

// Each of these would take hours if any recogniser went back over what it has seen.
TEST(FindPii, TakesLinearTimeForTextsThatAreMadeToBeSlow) {
  constexpr std::size_t kBytes = std::size_t{1} << 18;
  for (const std::string_view piece :
       {"@",           "a@",      "a.",         "a@b.", "+1",
        "1 ",          "1-",      "(1",         "4",    "-----BEGIN PRIVATE KEY ",
        "-----BEGIN ", "eyJ",     "eyJaaaaaa.", "sk-",  "password=",
        "password",    "Bearer ", "://a:",      "://",  "DE8",
        "%40",         "00 ",     "\xc3\xbc@",  "-",    "_",
        "token:token:"}) {
    std::string text;
    text.reserve(kBytes + piece.size());
    while (text.size() < kBytes) text += piece;
    const auto spans = find_pii(text);
    EXPECT_LE(spans.size(), kBytes) << piece;
  }
}

TEST(RedactPii, FindsWhatComesTogetherWhenSomethingIsTakenOut) {
  const std::string once = redact_pii("Bearer token=abc12345 x");
  EXPECT_TRUE(find_pii(once).empty()) << once;
}

TEST(RedactPii, TakesOutALongSecretToItsEnd) {
  std::string value;
  for (int i = 0; i < 6'000; ++i) value += "a1";
  EXPECT_EQ(redact_pii("Bearer " + value), "Bearer [secret]");
  EXPECT_EQ(redact_pii("password=" + value + " x"), "password=[secret] x");
  EXPECT_EQ(redact_pii("sk-" + value + "!"), "[secret]!");
  EXPECT_EQ(redact_pii("https://name:" + value + "@example.org/"), "https://[secret]@example.org/");
}

TEST(WithoutQuoted, TakesOutWhatAMessageRepeats) {
  EXPECT_EQ(without_quoted(R"(must be a number from 0 to 100, got "my secret")"),
            "must be a number from 0 to 100, got [quoted]");
  EXPECT_EQ(without_quoted("no model is named 'a 'b' c'"), "no model is named [quoted]");
  EXPECT_EQ(without_quoted("no model is named 'it's mine'."), "no model is named [quoted].");
  EXPECT_EQ(without_quoted("the client's key is unknown"), "the client's key is unknown");
  EXPECT_EQ(without_quoted(R"(got "a \" b" here)"), "got [quoted] here");
  EXPECT_EQ(without_quoted(R"(got "cut off here)"), "got [quoted]");
  EXPECT_EQ(without_quoted(""), "");
}

TEST(RedactField, CutsBetweenCharactersAndBehindRedaction) {
  EXPECT_EQ(redact_field("short", 10), "short");
  EXPECT_EQ(redact_field("0123456789abc", 10), "0123456789\xe2\x80\xa6");
  EXPECT_EQ(redact_field("12345678\xc3\xbc\xc3\xbc", 9), "12345678\xe2\x80\xa6");
  const std::string text = "by jo@example.org " + std::string(100, 'x');
  EXPECT_EQ(redact_field(text, 12), "by [email] x\xe2\x80\xa6");
  // The address is cut in two by what is kept.
  EXPECT_EQ(redact_field("by jo@example.org", 10), "by [email]");
}

TEST(RedactField, LooksAtTheBeginningOfAHugeTextOnly) {
  const std::string field = redact_field(std::string(std::size_t{1} << 22, 'a'), 16);
  EXPECT_EQ(field, std::string(16, 'a') + "\xe2\x80\xa6");
}

}  // namespace
}  // namespace zerohop
