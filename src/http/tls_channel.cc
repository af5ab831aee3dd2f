#include "http/tls_channel.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace zerohop {

// The end of OpenSSL that we hold: it reads from a channel's input and appends to its output.
struct TlsChannelBio {
  static TlsChannel& channel(BIO* bio) { return *static_cast<TlsChannel*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* to, int bytes) {
    TlsChannel& self = channel(bio);
    BIO_clear_retry_flags(bio);
    const std::size_t there = self.input_end_ - self.input_begin_;
    if (there == 0) {
      BIO_set_retry_read(bio);
      return -1;
    }
    const std::size_t taken = std::min(there, static_cast<std::size_t>(std::max(bytes, 0)));
    std::memcpy(to, self.input_.data() + self.input_begin_, taken);
    self.input_begin_ += taken;
    return static_cast<int>(taken);
  }

  static int write(BIO* bio, const char* from, int bytes) {
    BIO_clear_retry_flags(bio);
    channel(bio).output_.append(from, static_cast<std::size_t>(std::max(bytes, 0)));
    return bytes;
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static int create(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
  }

  static BIO_METHOD* method() {
    static BIO_METHOD* const kMethod = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "zerohop");
      ZH_CHECK(made != nullptr);
      BIO_meth_set_read(made, read);
      BIO_meth_set_write(made, write);
      BIO_meth_set_ctrl(made, control);
      BIO_meth_set_create(made, create);
      return made;
    }();
    return kMethod;
  }
};

namespace {

// Of a client's certificate; for log lines.
constexpr std::size_t kSubjectBytesMax = 256;

}  // namespace

TlsChannel::TlsChannel(std::shared_ptr<const TlsContext> context)
    : context_(std::move(context)), ssl_(SSL_new(context_->handle())) {
  BIO* const bio = BIO_new(TlsChannelBio::method());
  ZH_CHECK(ssl_ != nullptr && bio != nullptr);  // only without memory
  BIO_set_data(bio, this);
  SSL_set_bio(ssl_, bio, bio);  // takes it
  SSL_set_accept_state(ssl_);
}

TlsChannel::~TlsChannel() { SSL_free(ssl_); }

char* TlsChannel::input_room(std::size_t bytes) {
  if (input_begin_ == input_end_) {
    input_begin_ = input_end_ = 0;
    // An idle connection gives back what a long body needed.
    if (input_.size() > 4 * bytes) std::string().swap(input_);
  } else if (input_begin_ > 0) {
    input_.erase(0, input_begin_);
    input_end_ -= std::exchange(input_begin_, 0);
  }
  if (input_.size() < input_end_ + bytes) input_.resize(input_end_ + bytes);
  return input_.data() + input_end_;
}

bool TlsChannel::input_pending() const {
  return input_begin_ != input_end_ || SSL_has_pending(ssl_) == 1;
}

TlsChannel::Step TlsChannel::step_of(int outcome) {
  switch (SSL_get_error(ssl_, outcome)) {
    case SSL_ERROR_NONE: return Step::kDone;
    case SSL_ERROR_WANT_READ: return Step::kNeedInput;
    case SSL_ERROR_ZERO_RETURN: return Step::kEnd;
    default: break;
  }
  const unsigned long code = ERR_peek_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  fault_ = reason == nullptr ? "the TLS connection is broken" : reason;
  ERR_clear_error();
  return Step::kFault;
}

TlsChannel::Step TlsChannel::handshake() {
  ERR_clear_error();
  return step_of(SSL_do_handshake(ssl_));
}

TlsChannel::Read TlsChannel::read(std::span<char> room) {
  if (!fault_.empty()) return {Step::kFault, 0};
  ERR_clear_error();
  std::size_t bytes = 0;
  const int outcome = SSL_read_ex(ssl_, room.data(), room.size(), &bytes);
  const Step step = step_of(outcome);
  return {step, step == Step::kDone ? bytes : 0};
}

bool TlsChannel::write(std::string_view plain) {
  ZH_DCHECK(plain.size() <= kTlsRecordBytesMax);
  if (!fault_.empty()) return false;
  if (plain.empty()) return true;
  ERR_clear_error();
  std::size_t bytes = 0;
  const int outcome = SSL_write_ex(ssl_, plain.data(), plain.size(), &bytes);
  return step_of(outcome) == Step::kDone && bytes == plain.size();
}

void TlsChannel::close_notify() {
  if (!fault_.empty() || SSL_in_init(ssl_) == 1) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

bool TlsChannel::resumed() const { return SSL_session_reused(ssl_) == 1; }

namespace {

std::string text_of(const ASN1_STRING* text) {
  const auto* const bytes = ASN1_STRING_get0_data(text);
  std::string copy(bytes, bytes + ASN1_STRING_length(text));
  const auto printable = [](char c) { return c >= 0x20 && c < 0x7f; };
  return std::all_of(copy.begin(), copy.end(), printable) ? copy : std::string();
}

const ASN1_STRING* dns_name_in(const GENERAL_NAMES* names) {
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_DNS) return name->d.dNSName;
  }
  return nullptr;
}

const ASN1_STRING* common_name_of(const X509* certificate) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  return at < 0 ? nullptr : X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
}

}  // namespace

std::string TlsChannel::client_name() const {
  X509* const certificate = SSL_get0_peer_certificate(ssl_);
  if (certificate == nullptr) return {};
  auto* const names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  const ASN1_STRING* const dns = names == nullptr ? nullptr : dns_name_in(names);
  const ASN1_STRING* const name = dns != nullptr ? dns : common_name_of(certificate);
  std::string text = name == nullptr ? std::string() : text_of(name);
  GENERAL_NAMES_free(names);
  return text;
}

std::string TlsChannel::client_subject() const {
  X509* const certificate = SSL_get0_peer_certificate(ssl_);
  if (certificate == nullptr) return {};
  BIO* const text = BIO_new(BIO_s_mem());
  ZH_CHECK(text != nullptr);
  X509_NAME_print_ex(text, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* bytes = nullptr;
  const long count = BIO_get_mem_data(text, &bytes);
  std::string subject(bytes,
                      std::min<std::size_t>(static_cast<std::size_t>(count), kSubjectBytesMax));
  BIO_free(text);
  return subject;
}

}  // namespace zerohop
