// POST /v1/messages, streamed and whole, and /v1/messages/count_tokens.
//
//   body ─ worker: parse, name the model, render, tokenise ─→ engine ─→ events ─→ dialect ─→ socket
//
// A streamed answer decides on its status as late as it can: the head of the response goes out with
// the first event, so a request that fails before it was started still gets a true HTTP status.

#include <chrono>
#include <utility>

#include "api/anthropic_events.h"
#include "api/anthropic_reply.h"
#include "api/anthropic_request.h"
#include "app/generation_clock.h"
#include "app/handlers.h"
#include "app/json_response.h"
#include "app/model_names.h"
#include "app/request_context.h"
#include "app/stream_reader.h"
#include "app/worker_pool.h"
#include "http/exchange.h"
#include "http/sse.h"

namespace zerohop {
namespace {

// With no event by then, the head of a streamed answer goes out alone: clients measure this time.
constexpr std::chrono::seconds kFirstByte{1};
// Keeps a connection alive before message_start, where an event would be refused by one official
// SDK.
constexpr std::string_view kComment = ": waiting\n\n";
constexpr std::chrono::hours kForEver{24 * 365};

struct ParsedMessages {
  ReplyHead head;
  bool stream = false;
  PreparedGeneration generation;
};

// On a worker.
Result<ParsedMessages> parse_and_prepare(const Service& service, const std::string& body) {
  ZH_ASSIGN_OR_RETURN(ChatRequest request, parse_messages_request(body, service.parse_options));
  ParsedMessages parsed;
  ZH_ASSIGN_OR_RETURN(parsed.head.model, resolve_model_name(service.config.model,
                                                            service.tier().name(), request.model));
  parsed.stream = request.stream;
  ZH_ASSIGN_OR_RETURN(parsed.generation,
                      service.tier().prepare(request.conversation, std::move(request.generation)));
  parsed.head.message_id = make_message_id();
  return parsed;
}

Result<std::uint32_t> parse_and_count(const Service& service, const std::string& body) {
  ZH_ASSIGN_OR_RETURN(ChatRequest request, parse_count_tokens_request(body, service.parse_options));
  ZH_RETURN_IF_ERROR(
      resolve_model_name(service.config.model, service.tier().name(), request.model));
  ZH_ASSIGN_OR_RETURN(PreparedPrompt prompt,
                      service.tier().prompts().prepare(request.conversation));
  return static_cast<std::uint32_t>(prompt.tokens.size());
}

// One request between the parser and the last byte of its answer.
class MessagesCall {
 public:
  MessagesCall(Service& service, Exchange& exchange)
      : service_(service),
        exchange_(exchange),
        context_(*context_of(exchange.ticket())),
        timing_(service.clock, service.metrics, exchange.request().received_at) {}

  Awaitable<void> run() {
    advance(RequestState::kValidating);
    // Named, because GCC 12 destroys a temporary inside a co_await expression twice.
    auto work = [&service = service_, body = exchange_.take_body()] {
      return parse_and_prepare(service, body);
    };
    auto parsed = co_await run_on_worker(service_.workers, std::move(work));
    if (!parsed.ok()) {
      co_await refuse(std::move(parsed).error());
      co_return;
    }
    if (exchange_.peer_gone()) {
      cancelled();
      co_return;
    }
    auto stream = service_.tier().submit(std::move(parsed->generation));
    if (!stream.ok()) {
      co_await refuse(std::move(stream).error());
      co_return;
    }
    advance(RequestState::kInferring);
    parsed->head.request_id = context_.request_id;
    StreamReader reader(exchange_.executor(), std::move(stream).value());
    exchange_.on_peer_gone([&reader] { reader.interrupt(); });
    if (parsed->stream) {
      co_await answer_streamed(reader, std::move(parsed->head));
    } else {
      co_await answer_whole(reader, std::move(parsed->head));
    }
    exchange_.on_peer_gone(nullptr);
  }

 private:
  void advance(RequestState state) { context_.life.advance(state, service_.clock.now()); }

  Awaitable<void> refuse(Error error) {
    service_.metrics.count_refusal(error.code);
    advance(RequestState::kFailed);
    co_await exchange_.respond_error(std::move(error));
  }

  void cancelled() {
    service_.metrics.count_cancellation(timing_.phase());
    advance(RequestState::kCancelled);
  }

  void note(const Event& event) {
    timing_.note(event);
    if (const auto* started = std::get_if<Started>(&event)) context_.usage = started->usage;
    if (const auto* finished = std::get_if<Finished>(&event)) {
      context_.usage = finished->usage;
      context_.stop_reason = finish_reason_name(finished->reason);
    }
  }

  Awaitable<void> answer_whole(StreamReader& reader, ReplyHead head) {
    AnthropicReply reply(std::move(head));
    std::vector<Event> events;
    while (!reader.ended()) {
      co_await reader.read(kForEver, events);
      if (exchange_.peer_gone()) {
        cancelled();
        co_return;
      }
      for (const Event& event : events) {
        note(event);
        reply.add(event);
      }
      events.clear();
    }
    if (reply.failure() != nullptr) {
      co_await refuse(*reply.failure());
      co_return;
    }
    advance(RequestState::kStreaming);
    HttpResponse response = json_response(200, reply.body());
    co_await exchange_.respond(std::move(response));
    advance(exchange_.peer_gone() ? RequestState::kCancelled : RequestState::kDone);
  }

  Awaitable<void> answer_streamed(StreamReader& reader, ReplyHead head) {
    AnthropicStream dialect(std::move(head));
    std::vector<Event> events;
    std::string bytes;
    bool failed = false;
    while (!reader.ended()) {
      co_await reader.read(silence(), events);
      if (exchange_.peer_gone()) {
        cancelled();
        co_return;
      }
      // Nothing is out yet: the failure can still be a status.
      if (!head_out_ && !events.empty() && std::holds_alternative<Failed>(events.front())) {
        co_await refuse(std::move(std::get<Failed>(events.front()).error));
        co_return;
      }
      for (const Event& event : events) {
        note(event);
        if (const auto* failure = std::get_if<Failed>(&event)) {
          service_.metrics.count_refusal(failure->error.code);
          failed = true;
        }
        dialect.append(event, bytes);
        started_ = true;
      }
      const bool silent = events.empty();
      events.clear();
      const bool sent = co_await send(reader, bytes, silent);
      if (!sent) {
        cancelled();
        co_return;
      }
      bytes.clear();
    }
    advance(failed ? RequestState::kFailed : RequestState::kDone);
  }

  // How long the reader may wait before something has to be sent.
  Duration silence() const {
    if (!head_out_) return kFirstByte;
    const std::uint32_t seconds = service_.config.stream.ping_seconds;
    return seconds == 0 ? Duration(kForEver) : Duration(std::chrono::seconds(seconds));
  }

  // False when the peer is gone.
  Awaitable<bool> send(const StreamReader& reader, std::string& bytes, bool silent) {
    if (!head_out_) {
      std::vector<HeaderField> headers = event_stream_headers();
      const bool open = co_await exchange_.begin_stream(200, std::move(headers));
      if (!open) co_return false;
      head_out_ = true;
      advance(RequestState::kStreaming);
      if (silent) co_return co_await exchange_.flush();
    } else if (silent) {
      if (started_) {
        AnthropicStream::append_ping(bytes);
      } else {
        bytes = kComment;
      }
    }
    if (reader.ended()) co_return co_await exchange_.end_stream(bytes);
    co_return co_await exchange_.write(bytes);
  }

  Service& service_;
  Exchange& exchange_;
  RequestContext& context_;
  GenerationClock timing_;
  bool head_out_ = false;
  bool started_ = false;  // message_start is out
};

Awaitable<void> handle_messages(Service& service, Exchange& exchange) {
  MessagesCall call(service, exchange);
  co_await call.run();
}

Awaitable<void> handle_count_tokens(Service& service, Exchange& exchange) {
  RequestContext& context = *context_of(exchange.ticket());
  context.life.advance(RequestState::kValidating, service.clock.now());
  auto work = [&service, body = exchange.take_body()] { return parse_and_count(service, body); };
  const auto count = co_await run_on_worker(service.workers, std::move(work));
  if (!count.ok()) {
    service.metrics.count_refusal(count.error().code);
    context.life.advance(RequestState::kFailed, service.clock.now());
    co_await exchange.respond_error(count.error());
    co_return;
  }
  HttpResponse response = json_response(200, count_tokens_body(*count));
  co_await exchange.respond(std::move(response));
  context.life.advance(RequestState::kDone, service.clock.now());
}

}  // namespace

void add_messages_routes(Router& router, Service& service) {
  const auto messages = [&service](Exchange& exchange) {
    return handle_messages(service, exchange);
  };
  const auto count = [&service](Exchange& exchange) {
    return handle_count_tokens(service, exchange);
  };
  for (const std::string prefix : kApiPrefixes) {
    router.add("POST", prefix + "/messages", messages);
    router.add("POST", prefix + "/messages/count_tokens", count);
  }
}

}  // namespace zerohop
