#include "app/explain_request.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <optional>

#include "app/json_text.h"
#include "app/print_text.h"
#include "app/terminal_text.h"

namespace zerohop {
namespace {

namespace json = boost::json;

std::string time_text(Duration time) {
  const double milliseconds = to_milliseconds(time);
  return milliseconds >= 1000 ? print_text("%.1f s", milliseconds / 1000)
                              : print_text("%.1f ms", milliseconds);
}

Duration spent(const RequestRecord& record, RequestState state) {
  return record.in_state[static_cast<std::size_t>(state)];
}

// ---- Where the time went ----

struct Part {
  std::string_view name;
  Duration time;
  std::string_view advice;
};

// From the engine's acceptance on, the states of a request do not tell prompt and answer apart: the
// first token does.
std::array<Part, 5> parts_of(const RequestRecord& record) {
  const Duration body = spent(record, RequestState::kReceiving);
  const Duration reading = spent(record, RequestState::kValidating);
  const Duration engine =
      spent(record, RequestState::kInferring) + spent(record, RequestState::kStreaming);
  const Duration queue = std::min(record.queue, engine);
  const Duration until_token = record.first_token == Duration::zero()
                                   ? engine
                                   : std::max(record.first_token - body - reading, queue);
  const Duration prompt = std::min(until_token, engine) - queue;
  return {{{"receiving the body", body, "the client or its network sends slowly"},
           {"reading and tokenising it", reading,
            "very large bodies, documents or new schemas take their time here"},
           {"the queue", queue,
            "the instance has more work than room: fewer streams at once, more KV cells "
            "(engine.kv_cells), another instance, or a higher priority for this tenant"},
           {"computing the prompt", prompt,
            "a shorter prompt, or one whose beginning stays the same and is found in the cache"},
           {"writing the answer", engine - queue - prompt,
            "a smaller max_tokens or a stop sequence ends it earlier; fewer streams at once make "
            "each of them faster"}}};
}

Finding explain_time(const RequestRecord& record) {
  const auto parts = parts_of(record);
  const Part& most = *std::ranges::max_element(parts, {}, &Part::time);
  std::string text = "it took " + time_text(record.total) + ", most of it (" +
                     time_text(most.time) + ") " + std::string(most.name) + ": " +
                     std::string(most.advice);
  if (record.usage.output_tokens > 1 && most.name == parts.back().name) {
    text += "; " + std::to_string(record.usage.output_tokens) + " tokens, " +
            time_text(most.time / record.usage.output_tokens) + " each";
  }
  return {"slow", text + "."};
}

// ---- Why it has no answer, or a shorter one ----

std::string_view refusal_advice(std::string_view code) {
  struct Advice {
    std::string_view code;
    std::string_view text;
  };
  static constexpr Advice kAdvice[] = {
      {"authentication", "send a good key in x-api-key or Authorization: Bearer"},
      {"permission", "this key's tenant may not do that; `zerohop keys tenants` shows what it may"},
      {"rate_limited",
       "a limit of the key or its tenant; wait for retry-after, or raise it with "
       "`zerohop keys limits`"},
      {"overloaded", "more requests than the server takes at once; wait for retry-after"},
      {"shed",
       "the KV cache was under pressure; wait for retry-after, ask for fewer max_tokens, "
       "or give the cache more cells (engine.kv_cells)"},
      {"shutting_down", "this instance was going down; another one should be asked"},
      {"prompt_too_long", "the prompt does not fit into the window (engine.context_tokens)"},
      {"timeout", "its deadline was over before it could be answered"},
      {"wrong_instance", "it was pinned to another instance (x-anthropic-instance-id)"},
      {"model_failure", "the model library reported a fault; the log around this time says more"},
      {"internal", "a fault of the server; the log around this time says more"}};
  for (const Advice& advice : kAdvice) {
    if (advice.code == code) return advice.text;
  }
  return "the request has to be changed";
}

Finding explain_refusal(const RequestRecord& record) {
  const bool inside = record.status < 400;
  std::string text = inside ? "its stream ended with "
                            : "it was answered with status " + std::to_string(record.status) + ", ";
  text += std::string(record.error_code) + ": " + record.error_message;
  if (!text.ends_with('.')) text += '.';
  return {"refused", text + " What helps: " + std::string(refusal_advice(record.error_code)) + "."};
}

bool ended_for(const RequestRecord& record, FinishReason reason) {
  return record.stop_reason == finish_reason_name(reason);
}

Finding explain_cut(const RequestRecord& record) {
  if (!record.limit.empty()) {
    return {"cut", "the answer was cut by the limit " + record.limit +
                       ": no more was left of it for this request."};
  }
  if (ended_for(record, FinishReason::kContextWindow)) {
    return {"cut", "the window was full: prompt and answer share it (engine.context_tokens)."};
  }
  if (record.soft_max_tokens != 0) {
    return {"cut", "KV cells were scarce, so the answer was held to " +
                       std::to_string(record.soft_max_tokens) +
                       " tokens, as the request had allowed."};
  }
  return {"cut", "the answer reached its max_tokens (" + std::to_string(record.max_tokens) +
                     "); a larger one lets it end by itself."};
}

Finding explain_miss(const RequestRecord& record, const RecordedMiss* miss) {
  std::string text = std::to_string(record.usage.prompt_tokens_cached) + " of " +
                     std::to_string(record.usage.prompt_tokens) +
                     " prompt tokens were found in the cache";
  if (miss != nullptr) {
    return {"cache", text + "; " + std::string(miss_cause_name(miss->miss.cause)) + ": " +
                         miss_advice(miss->miss) + "."};
  }
  if (record.miss_cause.empty() || record.miss_cause == miss_cause_name(MissCause::kNone)) {
    return {"cache", text + "; everything that could be shared was."};
  }
  return {"cache", text + "; cause: " + std::string(record.miss_cause) + "."};
}

bool was_cut(const RequestRecord& record) {
  return ended_for(record, FinishReason::kMaxTokens) ||
         ended_for(record, FinishReason::kContextWindow) || !record.limit.empty();
}

json::object describe_states(const RequestRecord& record) {
  json::object states;
  for (std::size_t i = 0; i < kRequestStates; ++i) {
    const auto state = static_cast<RequestState>(i);
    if (is_final(state) || record.in_state[i] == Duration::zero()) continue;
    states[request_state_name(state)] = to_milliseconds(record.in_state[i]);
  }
  return states;
}

std::string request_line(const json::object& request) {
  const std::string numbers =
      print_text("  %3.0f  %9.1f ms  %6.0f in %6.0f cached %5.0f out", number_at(request, "status"),
                 number_at(request, "total_ms"), number_at(request, "prompt_tokens"),
                 number_at(request, "cached_tokens"), number_at(request, "output_tokens"));
  const std::string_view error = text_at(request, "error");
  const std::string_view end = error.empty() ? text_at(request, "stop_reason") : error;
  return std::string(text_at(request, "id")) + numbers + "  " + std::string(end) + "\n";
}

}  // namespace

std::vector<Finding> explain_request(const RequestRecord& record, const RecordedMiss* miss) {
  std::vector<Finding> findings;
  if (!record.error_code.empty()) findings.push_back(explain_refusal(record));
  if (record.state == RequestState::kCancelled) {
    findings.push_back({"answer", "its client went away after " + time_text(record.total) +
                                      "; what it did not wait for was not computed."});
  }
  if (was_cut(record)) findings.push_back(explain_cut(record));
  if (record.usage.prompt_tokens > 0) {
    findings.push_back(explain_time(record));
    findings.push_back(explain_miss(record, miss));
  }
  if (!record.constraint_relaxed.empty()) {
    findings.push_back(
        {"answer", "not all of its schema was enforced: " + record.constraint_relaxed + "."});
  }
  if (record.client_retries > 0) {
    findings.push_back({"retried", "its client had tried " + std::to_string(record.client_retries) +
                                       " times before."});
  }
  return findings;
}

json::object describe_request(const RequestRecord& record) {
  json::object object{{"id", record.id},
                      {"unix_ms", record.ended_unix_ms},
                      {"tenant", record.tenant},
                      {"key", record.key},
                      {"route", record.route},
                      {"model", record.model},
                      {"status", record.status},
                      {"state", request_state_name(record.state)},
                      {"error", record.error_code},
                      {"field", record.error_field},
                      {"message", record.error_message},
                      {"stop_reason", record.stop_reason},
                      {"prompt_tokens", record.usage.prompt_tokens},
                      {"cached_tokens", record.usage.prompt_tokens_cached},
                      {"output_tokens", record.usage.output_tokens},
                      {"max_tokens", record.max_tokens},
                      {"queue_ms", to_milliseconds(record.queue)},
                      {"first_token_ms", to_milliseconds(record.first_token)},
                      {"total_ms", to_milliseconds(record.total)}};
  if (record.trace.valid()) {
    object["trace_id"] = trace_id_text(record.trace);
    object["span_id"] = span_id_text(record.span);
  }
  if (!record.batch.empty()) {
    object["batch"] = record.batch;
    object["custom_id"] = record.custom_id;
  }
  object["states_ms"] = describe_states(record);
  return object;
}

std::string explanation_body(const RequestRecord& record, const RecordedMiss* miss) {
  json::object object = describe_request(record);
  json::array findings;
  for (const Finding& finding : explain_request(record, miss)) {
    findings.push_back(json::object{{"about", finding.about}, {"text", finding.text}});
  }
  object["findings"] = std::move(findings);
  return json::serialize(object);
}

Result<std::string> explanation_text(std::string_view body) {
  const std::optional<json::object> object = object_in(body);
  const json::array* findings = object ? array_at(*object, "findings") : nullptr;
  if (findings == nullptr) {
    return invalid_request("", "this is no explanation of a request");
  }
  std::string text{text_at(*object, "id")};
  for (const char* name : {"route", "model", "tenant", "batch", "custom_id", "trace_id"}) {
    if (const std::string_view part = text_at(*object, name); !part.empty()) {
      text += "  " + std::string(name) + " " + std::string(part);
    }
  }
  text += '\n';
  for (const json::value& entry : *findings) {
    const json::object* finding = entry.if_object();
    if (finding == nullptr) continue;
    std::string about(text_at(*finding, "about"));
    about.resize(std::max<std::size_t>(about.size(), 8), ' ');
    text += "  " + about + " " + std::string(text_at(*finding, "text")) + "\n";
  }
  if (findings->empty()) text += "  there is nothing to say against it\n";
  return terminal_text(std::move(text));
}

Result<std::string> request_list_text(std::string_view body) {
  const std::optional<json::object> object = object_in(body);
  const json::array* data = object ? array_at(*object, "data") : nullptr;
  if (data == nullptr) {
    return invalid_request("", "this is no list of requests");
  }
  if (data->empty()) return std::string("no request is over yet\n");
  std::string text;
  for (auto entry = data->rbegin(); entry != data->rend(); ++entry) {
    if (const json::object* request = entry->if_object()) text += request_line(*request);
  }
  return terminal_text(std::move(text));
}

}  // namespace zerohop
