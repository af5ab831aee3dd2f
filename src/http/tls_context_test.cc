#include "http/tls_context.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/clock.h"
#include "http/test_tls.h"

namespace zerohop {
namespace {

std::string fault_of(const TlsFiles& files) {
  const auto loaded = TlsContext::load(files);
  if (loaded.ok()) return "";
  EXPECT_EQ(loaded.error().code, ErrorCode::kConfiguration);
  return loaded.error().message;
}

TEST(TlsContext, KnowsWhenItsCertificateExpires) {
  const TestAuthority authority("CA");
  const TlsFolder folder;
  const TlsFiles files = folder.write(authority.issue("server", 7'200));
  const auto context = TlsContext::load(files);
  ASSERT_TRUE(context.ok());
  const Duration left = (*context)->expires_at() - SteadyClock().wall();
  EXPECT_GT(left, std::chrono::minutes(110));
  EXPECT_LT(left, std::chrono::minutes(130));
}

TEST(TlsContext, NamesTheFileThatIsWrong) {
  const TestAuthority authority("CA");
  const TlsFolder folder;
  const TestIdentity identity = authority.issue("server");
  const TlsFiles good = folder.write(identity);
  EXPECT_EQ(fault_of(good), "");

  TlsFiles files = good;
  files.certificate = folder.path("missing.pem");
  EXPECT_EQ(fault_of(files),
            "tls.certificate: " + files.certificate + ": No such file or directory");
  files = good;
  files.private_key = folder.write("empty.pem", "");
  EXPECT_EQ(fault_of(files).find("tls.private_key: " + files.private_key + ": "), 0u);
  files = good;
  files.private_key = folder.write("other.pem", authority.issue("other").private_key);
  EXPECT_NE(fault_of(files).find("key"), std::string::npos);
  files = good;
  files.clients = ClientCertificates::kRequired;
  files.client_ca = folder.write("ca.pem", "nonsense");
  EXPECT_EQ(fault_of(files).find("tls.client_ca: "), 0u);
  files.client_ca = folder.write("ca.pem", authority.pem());
  EXPECT_EQ(fault_of(files), "");
}

TEST(TlsContext, RefusesFilesThatWereCutOff) {
  const TestAuthority authority("CA");
  const TlsFolder folder;
  const TestIdentity identity = authority.issue("server");
  const TlsFiles files = folder.write(identity);
  for (std::size_t bytes = 0; bytes + 30 < identity.certificate.size(); bytes += 23) {
    folder.write("certificate.pem", identity.certificate.substr(0, bytes));
    EXPECT_NE(fault_of(files), "") << bytes;
  }
  folder.write("certificate.pem", identity.certificate);
  for (std::size_t bytes = 0; bytes + 30 < identity.private_key.size(); bytes += 7) {
    folder.write("key.pem", identity.private_key.substr(0, bytes));
    EXPECT_NE(fault_of(files), "") << bytes;
  }
}

TEST(TlsContext, DoesNotAskForAPassword) {
  const TestAuthority authority("CA");
  const TlsFolder folder;
  const TestIdentity identity = authority.issue("server");
  TlsFiles files = folder.write(identity);
  BIO* in = BIO_new_mem_buf(identity.private_key.data(), -1);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(in, nullptr, nullptr, nullptr);
  BIO* out = BIO_new_file(folder.path("encrypted.pem").c_str(), "w");
  char password[] = "secret";
  PEM_write_bio_PKCS8PrivateKey(out, key, EVP_aes_128_cbc(), password, 6, nullptr, nullptr);
  BIO_free(out);
  BIO_free(in);
  EVP_PKEY_free(key);
  files.private_key = folder.path("encrypted.pem");
  EXPECT_NE(fault_of(files), "");
}

}  // namespace
}  // namespace zerohop
