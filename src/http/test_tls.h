// What the TLS tests share: an authority that makes certificates, a folder for their files, and a
// client that speaks TLS. Test code.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "http/test_support.h"
#include "http/tls_context.h"

namespace zerohop {

struct TestIdentity {
  std::string certificate;  // PEM
  std::string private_key;  // PEM
};

/// Signs certificates whose names are `localhost` and 127.0.0.1.
class TestAuthority {
 public:
  explicit TestAuthority(const char* name) : key_(make_key()), certificate_(X509_new()) {
    describe(certificate_, name, key_);
    X509_set_issuer_name(certificate_, X509_get_subject_name(certificate_));
    extend(certificate_, NID_basic_constraints, "critical,CA:TRUE");
    ZH_CHECK(X509_sign(certificate_, key_, EVP_sha256()) > 0);
  }
  ~TestAuthority() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;

  std::string pem() const { return certificate_pem(certificate_); }

  /// `names`: subject alternative names; null: none.
  TestIdentity issue(const char* name, long valid_seconds = 3'600,
                     const char* names = "DNS:localhost,IP:127.0.0.1") const {
    EVP_PKEY* key = make_key();
    X509* certificate = X509_new();
    describe(certificate, name, key);
    X509_gmtime_adj(X509_getm_notAfter(certificate), valid_seconds);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate_));
    if (names != nullptr) extend(certificate, NID_subject_alt_name, names);
    ZH_CHECK(X509_sign(certificate, key_, EVP_sha256()) > 0);
    TestIdentity identity{certificate_pem(certificate), key_pem(key)};
    X509_free(certificate);
    EVP_PKEY_free(key);
    return identity;
  }

 private:
  static EVP_PKEY* make_key() { return EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"); }
  static void describe(X509* certificate, const char* name, EVP_PKEY* key) {
    static long serial = 0;
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -86'400);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3'600);
    const auto* text = static_cast<const unsigned char*>(static_cast<const void*>(name));
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, text, -1,
                               -1, 0);
    X509_set_pubkey(certificate, key);
  }
  static void extend(X509* certificate, int what, const char* value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, what, value);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  static std::string take(BIO* bio) {
    char* bytes = nullptr;
    const long count = BIO_get_mem_data(bio, &bytes);
    std::string text(bytes, static_cast<std::size_t>(count));
    BIO_free(bio);
    return text;
  }
  static std::string certificate_pem(X509* certificate) {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, certificate);
    return take(bio);
  }
  static std::string key_pem(EVP_PKEY* key) {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
    return take(bio);
  }

  EVP_PKEY* const key_;
  X509* const certificate_;
};

/// A folder of files that goes when this goes.
class TlsFolder {
 public:
  TlsFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "zerohop-tls-XXXXXX").string();
    ZH_CHECK(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~TlsFolder() { std::filesystem::remove_all(folder_); }
  TlsFolder(const TlsFolder&) = delete;
  TlsFolder& operator=(const TlsFolder&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  /// Under names that stay the same.
  TlsFiles write(const TestIdentity& identity) const {
    TlsFiles files;
    files.certificate = write("certificate.pem", identity.certificate);
    files.private_key = write("key.pem", identity.private_key);
    return files;
  }

 private:
  std::filesystem::path folder_;
};

struct TlsClientOptions {
  std::string authority;  ///< PEM; empty: any certificate will do
  const TestIdentity* identity = nullptr;
  int version_max = 0;    ///< 0: any
  std::string protocols;  ///< ALPN, as on the wire
  SSL_SESSION* resume = nullptr;
  std::string first = {};  ///< sent in front of the handshake, in plain
};

/// The settings of a client, for a handshake over whatever.
inline std::shared_ptr<SSL_CTX> client_context(const TlsClientOptions& options) {
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_security_level(context.get(), 0);  // else it would not even try old versions
  SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context.get(), options.version_max);
  if (!options.authority.empty()) {
    BIO* bio =
        BIO_new_mem_buf(options.authority.data(), static_cast<int>(options.authority.size()));
    X509* authority = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority);
    X509_free(authority);
    BIO_free(bio);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  }
  if (options.identity != nullptr) {
    const TestIdentity& identity = *options.identity;
    BIO* bio = BIO_new_mem_buf(identity.certificate.data(), -1);
    X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context.get(), certificate);
    X509_free(certificate);
    BIO_free(bio);
    bio = BIO_new_mem_buf(identity.private_key.data(), -1);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    SSL_CTX_use_PrivateKey(context.get(), key);
    EVP_PKEY_free(key);
    BIO_free(bio);
  }
  if (!options.protocols.empty()) {
    const auto* wire =
        static_cast<const unsigned char*>(static_cast<const void*>(options.protocols.data()));
    SSL_CTX_set_alpn_protos(context.get(), wire, static_cast<unsigned>(options.protocols.size()));
  }
  return context;
}

class TlsClient : public Client {
 public:
  explicit TlsClient(const Endpoint& endpoint, const TlsClientOptions& options = {})
      : Client(endpoint), context_(client_context(options)), ssl_(SSL_new(context_.get())) {
    if (!options.first.empty()) ::send(descriptor(), options.first.data(), options.first.size(), 0);
    SSL_set_fd(ssl_, descriptor());
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), "127.0.0.1");
    if (options.resume != nullptr) SSL_set_session(ssl_, options.resume);
    ERR_clear_error();
    secured_ = SSL_connect(ssl_) == 1;
  }
  ~TlsClient() override { SSL_free(ssl_); }

  bool secured() const { return secured_; }
  bool resumed() const { return SSL_session_reused(ssl_) == 1; }
  int version() const { return SSL_version(ssl_); }
  std::string protocol() const {
    const unsigned char* name = nullptr;
    unsigned bytes = 0;
    SSL_get0_alpn_selected(ssl_, &name, &bytes);
    return std::string(name, name + bytes);
  }
  std::string server_name() const {
    X509* certificate = SSL_get0_peer_certificate(ssl_);
    if (certificate == nullptr) return {};
    char name[100] = {};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                              sizeof name);
    return name;
  }
  /// To be freed by the caller. In TLS 1.3 it comes behind the first answer.
  SSL_SESSION* session() const { return SSL_get1_session(ssl_); }
  /// The other side has said that it sends no more, and was not just cut off.
  bool closed_orderly() const { return (SSL_get_shutdown(ssl_) & SSL_RECEIVED_SHUTDOWN) != 0; }
  void say_goodbye() { SSL_shutdown(ssl_); }
  void ask_for_new_keys() { ZH_CHECK(SSL_key_update(ssl_, SSL_KEY_UPDATE_REQUESTED) == 1); }
  bool send_plain(std::string_view bytes) {
    return ::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0;
  }

 protected:
  ssize_t send_some(std::string_view bytes) override {
    return secured_ ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) : -1;
  }
  ssize_t receive_some(std::string& buffer) override {
    return secured_ ? SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size())) : -1;
  }

 private:
  const std::shared_ptr<SSL_CTX> context_;
  SSL* const ssl_;
  bool secured_ = false;
};

}  // namespace zerohop
