#include "http/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <chrono>
#include <ctime>
#include <string_view>
#include <system_error>

namespace zerohop {
namespace {

// Forward secret and authenticated; TLS 1.3 has no others.
constexpr const char* kCiphers12 = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr std::array<unsigned char, 7> kSessionContext{'z', 'e', 'r', 'o', 'h', 'o', 'p'};
constexpr std::array<unsigned char, 9> kHttp11{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

// What the library complained about first on this thread: the rest is who passed it on.
std::string library_reason() {
  const unsigned long code = ERR_peek_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "not readable" : reason;
}

Error file_error(std::string_view key, const std::string& path) {
  return Error{ErrorCode::kConfiguration,
               std::string(key) + ": " + path + ": " + library_reason(),
               std::string(key),
               {}};
}

// An encrypted key would make the library ask on the terminal.
int no_password(char*, int, int, void*) { return 0; }

// A client that speaks ALPN and not HTTP/1.1 is told so by an alert, as RFC 7301 wants it.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                    const unsigned char* offered, unsigned offered_bytes, void*) {
  unsigned char* found = nullptr;
  const int outcome = SSL_select_next_proto(&found, chosen_bytes, kHttp11.data(), kHttp11.size(),
                                            offered, offered_bytes);
  if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

Result<void> set_rules(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  // An idle connection gives its record buffers back: 34 of some 45 KiB.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  // Tickets hold what is resumed, so there is nothing to keep here.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  SSL_CTX_set_default_passwd_cb(context, no_password);
  const bool set =
      SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
      SSL_CTX_set_cipher_list(context, kCiphers12) == 1 &&
      SSL_CTX_set_session_id_context(context, kSessionContext.data(), kSessionContext.size()) == 1;
  if (set) return {};
  return Error{ErrorCode::kConfiguration, "TLS: " + library_reason(), {}, {}};
}

Result<void> use_key_pair(SSL_CTX* context, const TlsFiles& files) {
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return file_error("tls.certificate", files.certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.private_key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return file_error("tls.private_key", files.private_key);
  }
  if (SSL_CTX_check_private_key(context) != 1) {
    ERR_clear_error();
    return Error{ErrorCode::kConfiguration,
                 "tls.private_key: " + files.private_key + ": is not the key of the certificate",
                 "tls.private_key",
                 {}};
  }
  return {};
}

Result<void> use_client_ca(SSL_CTX* context, const TlsFiles& files) {
  if (files.clients == ClientCertificates::kOff) return {};
  STACK_OF(X509_NAME)* names = SSL_load_client_CA_file(files.client_ca.c_str());
  if (names == nullptr ||
      SSL_CTX_load_verify_locations(context, files.client_ca.c_str(), nullptr) != 1) {
    sk_X509_NAME_pop_free(names, X509_NAME_free);
    return file_error("tls.client_ca", files.client_ca);
  }
  SSL_CTX_set_client_CA_list(context, names);  // takes the list
  const int without = files.clients == ClientCertificates::kRequired
                          ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
                          : SSL_VERIFY_PEER;
  SSL_CTX_set_verify(context, without, nullptr);
  return {};
}

WallTime end_of(const X509* certificate) {
  std::tm parts{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) {
    return {};
  }
  return WallTime(std::chrono::seconds(timegm(&parts)));
}

}  // namespace

TlsContext::~TlsContext() { SSL_CTX_free(handle_); }

Result<std::shared_ptr<const TlsContext>> TlsContext::load(const TlsFiles& files) {
  ERR_clear_error();
  SSL_CTX* const handle = SSL_CTX_new(TLS_server_method());
  if (handle == nullptr) {
    return Error{ErrorCode::kConfiguration, "TLS: " + library_reason(), {}, {}};
  }
  const std::shared_ptr<TlsContext> context(new TlsContext(handle));
  ZH_RETURN_IF_ERROR(set_rules(handle));
  ZH_RETURN_IF_ERROR(use_key_pair(handle, files));
  ZH_RETURN_IF_ERROR(use_client_ca(handle, files));
  context->expires_at_ = end_of(SSL_CTX_get0_certificate(handle));
  return std::shared_ptr<const TlsContext>(context);
}

}  // namespace zerohop
