#include "client.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "api/anthropic_request.h"
#include "api/error_body.h"

namespace zerohop {
namespace {

// What one token can bring: what was held back, and its own longest form.
constexpr std::size_t kTokenBytesMax = 32;
// Nor are the tokens that one step lets out: a draft and the one behind it.
constexpr std::size_t kStepBytesMax = (WorldOptions::kDraftTokensMax + 1) * kTokenBytesMax;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

SimClient::SimClient(ClientSurroundings surroundings, SimRequest request, ClientHabits habits,
                     std::uint64_t number)
    : world_(surroundings),
      request_(std::move(request)),
      habits_(habits),
      number_(number),
      life_(world_.clock.now()) {}

SimClient::~SimClient() { release(); }

void SimClient::say(std::string_view what) {
  world_.trace.add("client " + std::to_string(number_) + " " + std::string(what));
}

void SimClient::advance(RequestState state) {
  life_.advance(state, world_.clock.now());
  if (is_final(state)) release();
}

// Like StreamReader's end: who has not read everything cancels.
void SimClient::release() {
  permit_.release();
  if (stream_ == nullptr) return;
  stream_->set_on_readable(nullptr);
  stream_->cancel();
  stream_.reset();
}

void SimClient::enter() {
  auto permit = world_.admission.admit();
  if (!permit.ok()) return refuse(permit.error());
  permit_ = std::move(*permit);
  advance(RequestState::kReceiving);
  advance(RequestState::kValidating);
  if (const auto submitted = submit(); !submitted.ok()) return refuse(submitted.error());
  advance(RequestState::kInferring);
  say("enters, prompt " + std::to_string(prompt_tokens_) + ", max " + std::to_string(max_tokens_) +
      (stream_dialect_ ? ", streamed" : ", whole"));
}

Result<void> SimClient::submit() {
  ZH_ASSIGN_OR_RETURN(AnthropicRequest parsed,
                      parse_messages_request(request_.body, world_.parse_options));
  ChatRequest& chat = parsed.chat;
  max_tokens_ = chat.generation.max_tokens;
  stops_ = chat.generation.stop_sequences;
  ZH_ASSIGN_OR_RETURN(PreparedGeneration prepared,
                      world_.tier.prepare(chat.conversation, std::move(chat.generation)));
  prepared.request.scheduling = habits_.scheduling;
  prepared.request.cache.scope = habits_.scope;
  prompt_ = prepared.request.prompt;
  prompt_tokens_ = static_cast<std::uint32_t>(prompt_.size());
  work_ = prompt_tokens_ + std::min(max_tokens_, world_.tier.window() - prompt_tokens_);
  submitted_at_ = world_.clock.now();
  const ReplyHead head{"msg_sim" + std::to_string(number_), world_.tier.name(), "req_sim"};
  if (chat.stream) {
    stream_dialect_.emplace(head, parsed.reply);
  } else {
    whole_dialect_.emplace(head, parsed.reply);
    hurry();  // the server itself reads an answer that is not streamed
    habits_.buffer_bytes = 0;
  }
  if (habits_.buffer_bytes == 0) {
    ZH_ASSIGN_OR_RETURN(stream_, world_.tier.submit(std::move(prepared)));
  } else {
    // As Tier::submit(), with a smaller buffer.
    EngineLoop& loop = world_.tier.loop();
    const auto ring = [this, &loop] {
      ++rings_;
      loop.ring();
    };
    auto stream = std::make_shared<TokenStream>(ring, habits_.buffer_bytes);
    prepared.request.stream = stream;
    prepared.request.submitted_at = submitted_at_;
    ZH_RETURN_IF_ERROR(loop.submit(std::move(prepared.request)));
    stream_ = std::move(stream);
  }
  engine_end_ = stream_;
  entered_engine_ = true;
  stream_->set_on_readable([this] { woken_ = true; });
  return {};
}

// An answer of status 4xx or 5xx.
void SimClient::refuse(const Error& error) {
  error_ = error;
  std::string type;
  const std::string fault = read_error_body(anthropic_error_body(error, "req_sim"), type);
  world_.trace.require(fault.empty(), "error body: " + fault);
  say("is refused: " + type + ": " + error_text(error));
  advance(RequestState::kFailed);
}

void SimClient::leave() {
  if (over()) return;
  say("goes away while " + std::string(request_state_name(life_.state())));
  check_partial_text();
  advance(RequestState::kCancelled);
}

void SimClient::tick() {
  if (over()) return;
  ++age_;
  if (habits_.leaves_at && age_ >= *habits_.leaves_at) return leave();
  if (habits_.read_every == 0) return read();
  if (age_ >= habits_.read_from && age_ % habits_.read_every == 0) read();
}

void SimClient::read() {
  std::vector<Event> events;
  const bool was_woken = std::exchange(woken_, false);
  const std::uint64_t rings_before = rings_;
  const bool ended = stream_->read(events);
  world_.trace.require(events.empty() || was_woken,
                       "client " + std::to_string(number_) + " was not woken for its events");
  if (habits_.buffer_bytes > 0) check_buffer(events, ended || rings_ > rings_before);
  // Nothing is out yet: the failure can still be a status.
  if (!events.empty() && life_.state() == RequestState::kInferring) {
    if (const auto* failed = std::get_if<Failed>(&events.front())) return refuse(failed->error);
  }
  for (const Event& event : events) take(event);
  if (stream_dialect_ && events.empty() && !ended && world_.random.chance(0.02)) {
    std::string bytes;
    stream_dialect_->append_keep_alive(bytes);
    send(bytes);
  }
  if (ended) finish();
}

// Its stream is bounded, and the engine hears when there is room again.
void SimClient::check_buffer(const std::vector<Event>& events, bool engine_knows) {
  std::size_t bytes = 0;
  for (const Event& event : events) {
    if (const auto* delta = std::get_if<TextDelta>(&event)) bytes += delta->text.size();
  }
  world_.trace.require(bytes < habits_.buffer_bytes + kStepBytesMax,
                       "a paused request went on: " + std::to_string(bytes) + " bytes unread");
  world_.trace.require(bytes < habits_.buffer_bytes || engine_knows,
                       "the engine was not told that there is room");
}

void SimClient::take(const Event& event) {
  if (const auto* started = std::get_if<Started>(&event)) {
    placed_at_ = submitted_at_ + started->queue_time;
    world_.trace.require(started->usage.prompt_tokens == prompt_tokens_,
                         "the prompt was counted differently at the start");
    say("got its slot, " + std::to_string(started->usage.prompt_tokens_cached) + " cached");
  }
  if (const auto* failed = std::get_if<Failed>(&event)) {
    error_ = failed->error;
    say("fails: " + error_text(*error_));
  }
  if (whole_dialect_) return whole_dialect_->add(0, event);
  if (life_.state() == RequestState::kInferring) advance(RequestState::kStreaming);
  std::string bytes;
  stream_dialect_->append(0, event, bytes);
  send(bytes);
}

// Arrives in pieces, as over a network.
void SimClient::send(std::string_view bytes) {
  const std::size_t cut = bytes.empty() ? 0 : world_.random.below(bytes.size());
  checker_.feed(bytes.substr(0, cut));
  checker_.feed(bytes.substr(cut));
  world_.trace.require(checker_.fault().empty(), "client " + std::to_string(number_) +
                                                     ": broken stream: " + checker_.fault());
}

void SimClient::finish() {
  if (whole_dialect_) {
    if (whole_dialect_->failure() != nullptr) return refuse(Error(*whole_dialect_->failure()));
    advance(RequestState::kStreaming);
    const std::string fault = read_whole_answer(whole_dialect_->body(), seen_);
    world_.trace.require(fault.empty(), "whole answer: " + fault);
  } else {
    seen_ = checker_.answer();
    world_.trace.require(checker_.ended(), "the stream ended without a terminal event");
  }
  if (checker_.failed()) {
    world_.trace.require(error_.has_value(), "an error event without an error");
    check_partial_text();
    return advance(RequestState::kFailed);
  }
  say("is answered: " + seen_.stop_reason + " " + quoted(seen_.text));
  check_against_oracle();
  advance(RequestState::kDone);
}

void SimClient::check_against_oracle() {
  Trace& trace = world_.trace;
  const std::string who = "client " + std::to_string(number_) + ": ";
  const std::optional<OracleAnswer> right = world_.oracle.answer(request_.body);
  if (!right) return trace.fail(who + "answered, although alone it would be refused");
  trace.require(seen_.text == right->text,
                who + "text " + quoted(seen_.text) + ", alone " + quoted(right->text));
  trace.require(seen_.stop_reason == anthropic_stop_reason(right->reason),
                who + "stop reason " + seen_.stop_reason);
  trace.require(seen_.stop_sequence.value_or("") == right->stop_sequence,
                who + "stop sequence " + quoted(seen_.stop_sequence.value_or("")));
  const std::uint64_t computed = seen_.input_tokens + seen_.cache_creation_tokens;
  trace.require(computed + seen_.cache_read_tokens == prompt_tokens_,
                who + "the input counters do not add up to the prompt");
  trace.require(computed > 0, who + "the last token of a prompt is always computed");
  trace.require(seen_.output_tokens == right->usage.output_tokens, who + "output tokens");
  trace.require(seen_.output_tokens <= max_tokens_, who + "more than max_tokens");
  for (const std::string& stop : stops_) {
    trace.require(seen_.text.find(stop) == std::string::npos, who + "shows a stop sequence");
  }
}

// Of an answer that was cut off: what came is the beginning of the right one.
void SimClient::check_partial_text() {
  const std::string& text = checker_.answer().text;
  if (text.empty()) return;
  const std::optional<OracleAnswer> right = world_.oracle.answer(request_.body);
  world_.trace.require(right && right->text.starts_with(text), "client " + std::to_string(number_) +
                                                                   ": the part " + quoted(text) +
                                                                   " begins no right answer");
}

}  // namespace zerohop
