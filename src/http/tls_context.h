// TlsContext: certificate, key and rules of a TLS listener, read from files and then constant.
//
// A reload makes a new one and hands it to HttpServer::set_tls(): connections that are open keep
// theirs, those that come later get the new one, and a file that does not fit makes no context at
// all. TLS 1.2 and 1.3 (RFC 8446), ALPN `http/1.1` (RFC 7301), resumption by tickets whose keys
// belong to the context, so that what a certificate or CA change has ended is not resumed.
//
// Any thread; held by shared_ptr from the server and from every connection that began with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "core/error.h"

struct ssl_ctx_st;

namespace zerohop {

enum class ClientCertificates : std::uint8_t {
  kOff,       ///< none is asked for
  kOptional,  ///< one that is shown must be good
  kRequired,  ///< nobody is served without a good one
};

struct TlsFiles {
  std::string certificate;  ///< PEM: the server's certificate, then those between it and the root
  std::string private_key;  ///< PEM, not encrypted
  std::string client_ca;    ///< PEM: whose certificates clients may show; with kOptional, kRequired
  ClientCertificates clients = ClientCertificates::kOff;
};

class TlsContext {
 public:
  /// Reads the files (some milliseconds). Errors: kConfiguration, naming the file.
  static Result<std::shared_ptr<const TlsContext>> load(const TlsFiles& files);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  /// When the server's certificate expires.
  WallTime expires_at() const { return expires_at_; }
  ssl_ctx_st* handle() const { return handle_; }

 private:
  explicit TlsContext(ssl_ctx_st* handle) : handle_(handle) {}

  ssl_ctx_st* const handle_;
  WallTime expires_at_{};
};

}  // namespace zerohop
