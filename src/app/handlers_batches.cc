// /v1/messages/batches: create, get, list, cancel, delete, results.
//
// Every call of the store waits for the disk, so it runs on the batch thread.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "api/batch_dialect.h"
#include "api/page_query.h"
#include "app/batch_service.h"
#include "app/handlers.h"
#include "app/ids.h"
#include "app/json_response.h"
#include "app/request_context.h"
#include "app/worker_pool.h"
#include "http/exchange.h"
#include "http/url.h"

namespace zerohop {
namespace {

// What a call does with the store: its answer's body.
using StoreCall = std::function<Result<std::string>(BatchStore& store)>;

Error no_batches() {
  return Error{ErrorCode::kNotFound,
               "this server keeps no message batches (batches.folder), or another process has its "
               "folder",
               "",
               {}};
}

TenantId owner_of(const Exchange& exchange) {
  return context_of(exchange.ticket())->caller.tenant->number;
}

std::uint64_t key_of(const Exchange& exchange) {
  const KeyRecord* key = context_of(exchange.ticket())->caller.key;
  return key == nullptr ? 0 : key->number.value;
}

enum class Wakes : std::uint8_t { kNobody, kRunner };

// Lists hold no permit and have no states.
void advance(const Service& service, const Exchange& exchange, RequestState state) {
  RequestContext& context = *context_of(exchange.ticket());
  if (context.permit.held()) context.life.advance(state, service.clock.now());
}

Awaitable<void> answer(Service& service, Exchange& exchange, StoreCall call, Wakes wakes) {
  BatchService& batches = *service.batches;
  auto work = [&batches, call = std::move(call)] { return call(batches.store()); };
  Result<std::string> body = co_await run_on_worker(batches.thread(), std::move(work));
  if (!body.ok()) {
    co_await refuse_request(service, exchange, std::move(body).error());
    co_return;
  }
  if (wakes == Wakes::kRunner) batches.poll_soon();
  HttpResponse response = json_response(200, std::move(body).value());
  co_await exchange.respond(std::move(response));
  advance(service, exchange, RequestState::kDone);
}

// On a worker: a body may hold a hundred thousand requests.
Result<NewBatch> parse_new_batch(const std::string& body) {
  ZH_ASSIGN_OR_RETURN(std::vector<BatchItem> items, parse_batch_request(body));
  NewBatch batch;
  batch.id = make_id("msgbatch_");
  batch.requests.reserve(items.size());
  for (BatchItem& item : items) {
    batch.requests.push_back({std::move(item.custom_id), std::move(item.params)});
  }
  return batch;
}

Awaitable<void> handle_create(Service& service, Exchange& exchange) {
  auto parse = [body = exchange.take_body()] { return parse_new_batch(body); };
  Result<NewBatch> batch = co_await run_on_worker(service.workers, std::move(parse));
  if (!batch.ok()) {
    co_await refuse_request(service, exchange, std::move(batch).error());
    co_return;
  }
  batch->owner = owner_of(exchange);
  batch->owner_key = key_of(exchange);
  auto made = std::make_shared<const NewBatch>(std::move(batch).value());
  StoreCall call = [&service, made](BatchStore& store) -> Result<std::string> {
    ZH_ASSIGN_OR_RETURN(const MessageBatch stored, store.create(*made, service.clock.wall()));
    return batch_body(stored);
  };
  co_await answer(service, exchange, std::move(call), Wakes::kRunner);
}

Awaitable<void> handle_list(Service& service, Exchange& exchange) {
  const std::string& query = exchange.request().head.query;
  StoreCall call = [query, owner = owner_of(exchange)](BatchStore& store) -> Result<std::string> {
    BatchListQuery wanted;
    wanted.owner = owner;
    ZH_ASSIGN_OR_RETURN(wanted.limit, parse_page_limit(query_parameter(query, "limit")));
    wanted.after_id = query_parameter(query, "after_id").value_or("");
    wanted.before_id = query_parameter(query, "before_id").value_or("");
    if (!wanted.after_id.empty() && !wanted.before_id.empty()) {
      return invalid_request("before_id", "cannot be combined with after_id");
    }
    ZH_ASSIGN_OR_RETURN(const BatchPage page, store.list(wanted));
    return batch_list_body({page.batches, page.has_more});
  };
  co_await answer(service, exchange, std::move(call), Wakes::kNobody);
}

Awaitable<void> handle_get(Service& service, Exchange& exchange) {
  StoreCall call = [id = exchange.parameters().get("id"),
                    owner = owner_of(exchange)](BatchStore& store) -> Result<std::string> {
    ZH_ASSIGN_OR_RETURN(const MessageBatch batch, store.get(id, owner));
    return batch_body(batch);
  };
  co_await answer(service, exchange, std::move(call), Wakes::kNobody);
}

Awaitable<void> handle_cancel(Service& service, Exchange& exchange) {
  StoreCall call = [&service, id = exchange.parameters().get("id"),
                    owner = owner_of(exchange)](BatchStore& store) -> Result<std::string> {
    ZH_ASSIGN_OR_RETURN(const MessageBatch batch, store.cancel(id, service.clock.wall(), owner));
    return batch_body(batch);
  };
  co_await answer(service, exchange, std::move(call), Wakes::kRunner);
}

Awaitable<void> handle_delete(Service& service, Exchange& exchange) {
  StoreCall call = [id = exchange.parameters().get("id"),
                    owner = owner_of(exchange)](BatchStore& store) -> Result<std::string> {
    ZH_RETURN_IF_ERROR(store.erase(id, owner));
    return batch_deleted_body(id);
  };
  co_await answer(service, exchange, std::move(call), Wakes::kNobody);
}

// JSON Lines, page by page: the results of a batch may exceed memory.
Awaitable<void> handle_results(Service& service, Exchange& exchange) {
  BatchService& batches = *service.batches;
  BatchResultQuery query;
  query.id = exchange.parameters().get("id");
  query.owner = owner_of(exchange);
  bool begun = false;
  std::optional<std::int64_t> next = 0;
  while (next) {
    query.next = *next;
    auto work = [&batches, query] { return batches.store().results(query); };
    Result<BatchResultPage> page = co_await run_on_worker(batches.thread(), std::move(work));
    if (!page.ok()) {
      if (begun) {
        co_await exchange.abort_stream();
      } else {
        co_await refuse_request(service, exchange, std::move(page).error());
      }
      co_return;
    }
    std::string lines;
    for (const BatchResult& result : page->results) append_batch_result(result, lines);
    next = page->next;
    if (!begun) {
      std::vector<HeaderField> headers;
      headers.push_back(HeaderField{"content-type", "application/x-jsonl"});
      begun = co_await exchange.begin_stream(200, std::move(headers));
      if (!begun) co_return;
    }
    const bool sent = co_await exchange.write(lines);
    if (!sent) co_return;
  }
  co_await exchange.end_stream();
}

using Handle = Awaitable<void> (*)(Service&, Exchange&);

Awaitable<void> handle_if_kept(Service& service, Exchange& exchange, Handle handle) {
  advance(service, exchange, RequestState::kValidating);
  if (service.batches == nullptr) return refuse_request(service, exchange, no_batches());
  return handle(service, exchange);
}

}  // namespace

void add_batch_routes(Router& router, Service& service) {
  const auto add = [&](const std::string& method, const std::string& path, Handle handle) {
    router.add(method, path, [&service, handle](Exchange& exchange) {
      return handle_if_kept(service, exchange, handle);
    });
  };
  for (const std::string prefix : kApiPrefixes) {
    const std::string batches = prefix + "/messages/batches";
    add("POST", batches, handle_create);
    add("GET", batches, handle_list);
    add("GET", batches + "/{id}", handle_get);
    add("DELETE", batches + "/{id}", handle_delete);
    add("POST", batches + "/{id}/cancel", handle_cancel);
    add("GET", batches + "/{id}/results", handle_results);
  }
}

}  // namespace zerohop
