// One line for each request that is over: who asked what, what it cost, where its time went, and
// why it failed. Bodies never get into it, keys only by their id, and every text that a client
// chose passes the redactor (policy/redact.h) before anything keeps it. Error messages keep their
// own words and lose what they quote of the request.
//
//   on_done ──record_of()──▶ RequestRecord ──log_record()──▶ one JSON line, or one line for people
//
// I/O thread; a record is a plain value that may go anywhere.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/request_lifecycle.h"
#include "base/log.h"
#include "core/tenant.h"
#include "core/trace_context.h"
#include "core/usage.h"
#include "http/server_options.h"

namespace zerohop {

struct RequestContext;
struct Service;

/// Facts of one finished request. Texts of clients are redacted and cut to kFieldBytesMax.
struct RequestRecord {
  static constexpr std::size_t kFieldBytesMax = 256;

  std::int64_t ended_unix_ms = 0;
  std::string id;  ///< `req_…`; empty: it had none
  TraceId trace;   ///< it belongs to; none: to no trace
  SpanId span;     ///< this server's own
  std::string instance;
  std::string tenant;  ///< its name
  TenantId tenant_number{};
  std::string key;  ///< id of the key; empty: none was shown
  std::string method;
  std::string route;      ///< the pattern; empty when none matched
  std::string batch;      ///< id of the message batch that it is one of; empty: of none
  std::string custom_id;  ///< its name in there
  std::string peer;
  std::string client_subject;  ///< of its certificate
  std::string user_agent;
  std::string model;     ///< as the client named it
  std::string tier;      ///< name of the model that answered; empty: none was asked
  std::string fallback;  ///< why another model than the named one: `unknown_model`; empty: not so
  std::string_view class_name;  ///< priority, standard, batch; static text
  bool streamed = false;
  bool costs = false;  ///< it held a permit: no probe, no list

  int status = 0;        ///< 0: nothing was answered
  std::string_view end;  ///< completed, peer_gone, aborted, timed_out; static text
  RequestState state = RequestState::kIdle;
  std::string_view error_code;  ///< error_traits().name; empty: no error
  std::string error_field;
  std::string error_message;

  Usage usage;
  std::uint32_t max_tokens = 0;
  std::uint32_t soft_max_tokens = 0;  ///< RequestContext::soft_max_tokens
  std::string constraint_relaxed;
  std::string limit;  ///< name of the limit that made the answer shorter; empty: none
  std::string stop_reason;
  std::string_view miss_cause;  ///< miss_cause_name(); empty: nothing was looked up

  std::uint32_t client_retries = 0;  ///< x-stainless-retry-count
  std::uint64_t cache_key = 0;       ///< hash; 0: none
  std::uint64_t fingerprint = 0;     ///< hash of path and body; 0: no body was read

  std::array<Duration, kRequestStates> in_state{};  ///< by RequestState
  Duration queue{};                                 ///< zero: it was never queued
  Duration first_byte{};                            ///< zero: nothing was answered
  Duration first_token{};                           ///< zero: there was no text
  Duration total{};
  std::vector<std::pair<std::string, std::string>> labels;  ///< of its metadata, allowed ones
};

/// Made once, in on_done.
RequestRecord record_of(const Service& service, const ExchangeSummary& summary);

/// One of a message batch, for which there is no exchange of its own.
struct BatchedRequest {
  const RequestContext& context;  ///< in a final state
  std::string_view batch;
  std::string_view custom_id;
};
RequestRecord record_of(const Service& service, const BatchedRequest& request);

/// At which level `record` is logged: probes and scrapes come every second, so what costs nothing
/// and went well is for debugging.
LogLevel level_of(const RequestRecord& record);

/// The fields of the line, in their order; what is empty or zero is left out. Labels come last,
/// under their own names with `label.` in front.
std::vector<LogField> log_fields(const RequestRecord& record);

/// Writes the line, if its level is on.
void log_record(const RequestRecord& record);

}  // namespace zerohop
