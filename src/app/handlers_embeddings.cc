// POST /v1/embeddings: text → tokens on a worker, tokens → vectors in the pauses of the engine.

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "api/openai_embeddings.h"
#include "app/dialect_call.h"
#include "app/handlers.h"
#include "app/json_response.h"
#include "app/model_names.h"
#include "app/request_context.h"
#include "app/worker_pool.h"
#include "http/exchange.h"

namespace zerohop {
namespace {

namespace asio = boost::asio;

struct PreparedEmbeddings {
  EmbeddingRequest request;
  OpenAiEmbeddings reply;  // without its vectors
  std::optional<std::uint32_t> dimensions;
};

Result<std::vector<Token>> tokens_of(const EmbeddingModel& model, const OpenAiPrompt& input,
                                     const std::string& path) {
  Result<std::vector<Token>> tokens =
      std::holds_alternative<std::string>(input)
          ? model.prepare_text(std::get<std::string>(input))
          : model.prepare_tokens(std::get<std::vector<Token>>(input));
  if (tokens.ok()) return tokens;
  Error error = std::move(tokens).error();
  error.field = path;
  return error;
}

// One model makes all vectors, so the name only shows in the reply. That of the served model asks
// for nothing else.
Result<std::string> reply_name(const CallScope& scope, const std::string& requested) {
  const Tier& tier = scope.service.tier();
  const std::string& name = tier.embeddings().info().name;
  return resolve_model_name(scope.live->config.model, name,
                            requested == tier.name() ? name : requested);
}

// On a worker.
Result<PreparedEmbeddings> prepare(const CallScope& scope, const TenantRecord& tenant,
                                   const std::string& body) {
  const EmbeddingModel& model = scope.service.tier().embeddings();
  ZH_ASSIGN_OR_RETURN(const OpenAiEmbeddingsRequest request, parse_embeddings_request(body, {}));
  PreparedEmbeddings prepared;
  ZH_ASSIGN_OR_RETURN(prepared.reply.model, reply_name(scope, request.model));
  ZH_RETURN_IF_ERROR(check_resolved_model(scope.service, tenant, prepared.reply.model));
  prepared.reply.encoding = request.encoding;
  const std::uint32_t width = model.info().embedding;
  if (request.dimensions && *request.dimensions > width) {
    return invalid_request("dimensions", "must be at most " + std::to_string(width) +
                                             ", the width of this model's vectors, got " +
                                             std::to_string(*request.dimensions));
  }
  prepared.dimensions = request.dimensions;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    ZH_ASSIGN_OR_RETURN(std::vector<Token> tokens,
                        tokens_of(model, request.inputs[i], "input[" + std::to_string(i) + "]"));
    prepared.request.inputs.push_back(std::move(tokens));
  }
  return prepared;
}

// The first `size` numbers, again of length 1.
void shorten(std::vector<float>& vector, std::size_t size) {
  if (size >= vector.size()) return;
  vector.resize(size);
  double square = 0;
  for (const float number : vector) square += static_cast<double>(number) * number;
  if (square <= 0) return;
  const auto scale = static_cast<float>(1 / std::sqrt(square));
  for (float& number : vector) number *= scale;
}

// Suspends until the engine has made the vectors, or the peer has gone.
Awaitable<Result<Embeddings>> compute(Service& service, Exchange& exchange,
                                      EmbeddingRequest request) {
  std::optional<Result<Embeddings>> result;
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
      [&](auto handler) {
        auto executor = asio::get_associated_executor(handler);
        // Shared, because the engine's callback has to be copyable.
        auto resume = std::make_shared<decltype(handler)>(std::move(handler));
        auto guard = asio::make_work_guard(executor);
        request.on_done = [&result, resume, executor, guard](Result<Embeddings> done) {
          result.emplace(std::move(done));
          asio::post(executor, std::move(*resume));
        };
        auto job = service.tier().submit_embedding(std::move(request));
        if (!job.ok()) {
          result.emplace(std::move(job).error());
          asio::post(executor, std::move(*resume));
          return;
        }
        exchange.on_peer_gone([job = *job] { job->cancel(); });
      },
      asio::use_awaitable);
  exchange.on_peer_gone(nullptr);
  co_return std::move(*result);
}

class EmbeddingsCall {
 public:
  EmbeddingsCall(Service& service, Exchange& exchange)
      : service_(service), exchange_(exchange), context_(*context_of(exchange.ticket())) {}

  Awaitable<void> run() {
    advance(RequestState::kValidating);
    auto work = [this, body = exchange_.take_body()] {
      return prepare({service_, context_.live}, *context_.caller.tenant, body);
    };
    Result<PreparedEmbeddings> prepared = co_await run_on_worker(service_.workers, std::move(work));
    if (!prepared.ok()) {
      co_await refuse(std::move(prepared).error());
      co_return;
    }
    const Result<void> limited = claim(prepared->request);
    if (!limited.ok()) {
      co_await refuse(limited.error());
      co_return;
    }
    advance(RequestState::kInferring);
    EmbeddingRequest request = std::move(prepared->request);
    Result<Embeddings> vectors = co_await compute(service_, exchange_, std::move(request));
    if (exchange_.peer_gone()) {
      service_.metrics.count_cancellation(CancelPhase::kPrefill);
      advance(RequestState::kCancelled);
      co_return;
    }
    if (!vectors.ok()) {
      co_await refuse(std::move(vectors).error());
      co_return;
    }
    co_await answer(*prepared, std::move(vectors).value());
  }

 private:
  void advance(RequestState state) { context_.life.advance(state, service_.clock.now()); }

  Awaitable<void> refuse(Error error) {
    return refuse_request(service_, exchange_, std::move(error));
  }

  const std::string& model() const { return service_.tier().embeddings().info().name; }

  Result<void> claim(const EmbeddingRequest& request) {
    std::uint64_t tokens = 0;
    for (const std::vector<Token>& input : request.inputs) tokens += input.size();
    return service_.limits.claim_input(context_.limit, model(), tokens);
  }

  Awaitable<void> answer(PreparedEmbeddings& prepared, Embeddings vectors) {
    prepared.reply.prompt_tokens = vectors.tokens;
    prepared.reply.vectors = std::move(vectors.vectors);
    context_.usage.prompt_tokens = vectors.tokens;
    // Thousands of vectors are megabytes of text.
    auto write = [&prepared] {
      for (std::vector<float>& vector : prepared.reply.vectors) {
        shorten(vector, prepared.dimensions.value_or(static_cast<std::uint32_t>(vector.size())));
      }
      return openai_embeddings_body(prepared.reply);
    };
    Result<std::string> body = co_await run_on_worker(service_.workers, std::move(write));
    if (!body.ok()) {
      co_await refuse(std::move(body).error());
      co_return;
    }
    const BilledTokens computed{prepared.reply.prompt_tokens, 0, 0};
    service_.limits.settle(context_.limit, {&context_.caller, model(), computed});
    advance(RequestState::kStreaming);
    HttpResponse response = json_response(200, std::move(body).value());
    co_await exchange_.respond(std::move(response));
    advance(exchange_.peer_gone() ? RequestState::kCancelled : RequestState::kDone);
  }

  Service& service_;
  Exchange& exchange_;
  RequestContext& context_;
};

Awaitable<void> handle_embeddings(Service& service, Exchange& exchange) {
  EmbeddingsCall call(service, exchange);
  co_await call.run();
}

}  // namespace

void add_embeddings_routes(Router& router, Service& service) {
  const auto embeddings = [&service](Exchange& exchange) {
    return handle_embeddings(service, exchange);
  };
  for (const std::string prefix : kApiPrefixes) {
    router.add("POST", prefix + "/embeddings", embeddings);
  }
}

}  // namespace zerohop
