// Reads the answer to one chat request, streamed or whole, as it arrives: when each piece of text
// came, how it ended, what usage says. Looks for the few members that it needs and parses no JSON,
// because the generator shares the cores with what it measures.
//
// One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http_wire.h"

namespace zerohop::bench {

class ChatReply {
 public:
  explicit ChatReply(bool streamed) : streamed_(streamed) {}

  /// Takes bytes that arrived at `at` (any clock). A streamed piece of text counts from then.
  void feed(std::string_view bytes, double at);

  /// Nothing more will come.
  bool complete() const { return reader_.complete(); }
  /// Something of an answer has arrived.
  bool begun() const { return begun_; }
  /// A status of 200, a reason why it stopped, and with a stream its end mark; no error inside.
  bool whole() const;

  int status() const { return reader_.status(); }
  const std::vector<double>& text_times() const { return text_times_; }
  const std::string& text() const { return text_; }  ///< as the JSON had it (escaped)
  const std::string& finish_reason() const { return finish_reason_; }
  const std::string& trouble() const { return trouble_; }  ///< a refusal's body, a stream's error
  int prompt_tokens() const { return prompt_tokens_; }
  int cached_tokens() const { return cached_tokens_; }
  int output_tokens() const { return output_tokens_; }

 private:
  void take_events(double at);
  void take_data(std::string_view data, double at);

  const bool streamed_;
  AnswerReader reader_;
  std::string unread_;  // of the body
  bool begun_ = false;
  bool end_mark_ = false;
  std::vector<double> text_times_;
  std::string text_;
  std::string finish_reason_;
  std::string trouble_;
  int prompt_tokens_ = 0;
  int cached_tokens_ = 0;
  int output_tokens_ = 0;
};

}  // namespace zerohop::bench
