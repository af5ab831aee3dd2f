// Drives an OutputSegmenter in tests and writes down what it gives out, joined:
//
//   text[Hi] think[hm] call[name|{"a":1}]
//
// A call that was begun and not ended shows as "call[name|…" without its bracket.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "prompt/output_segmenter.h"

namespace zerohop {

class SegmentRecorder final : public SegmentSink {
 public:
  void text(std::string_view bytes) override { add("text", bytes, text_bytes); }
  void thinking(std::string_view bytes) override { add("think", bytes, thinking_bytes); }
  void call_begin(std::string_view name) override {
    close();
    out_ += out_.empty() ? "call[" : " call[";
    out_.append(name).append("|");
    kind_ = "call";
    arguments.emplace_back();
  }
  void call_arguments(std::string_view json) override {
    if (kind_ != "call") out_ += "(arguments outside a call)";
    out_ += json;
    arguments.back() += json;
  }
  void call_end() override {
    if (kind_ != "call") out_ += "(end outside a call)";
    out_ += "]";
    kind_ = {};
  }

  std::string str() const { return kind_ == "text" || kind_ == "think" ? out_ + "]" : out_; }

  std::vector<std::string> arguments;  ///< of each call
  std::string text_bytes;
  std::string thinking_bytes;

 private:
  void add(std::string_view kind, std::string_view bytes, std::string& all) {
    if (bytes.empty()) out_ += "(empty)";
    if (kind_ == "call") out_ += "(call not ended)";
    if (kind_ != kind) {
      close();
      if (!out_.empty()) out_ += " ";
      out_.append(kind).append("[");
      kind_ = kind;
    }
    out_ += bytes;
    all += bytes;
  }
  void close() {
    if (!kind_.empty()) out_ += "]";
    kind_ = {};
  }

  std::string out_;
  std::string_view kind_;
};

/// What a segmenter makes of `pieces` and the end of the output.
inline SegmentRecorder segment(const OutputPlan& plan,
                               const std::vector<std::string_view>& pieces) {
  OutputSegmenter segmenter(plan);
  SegmentRecorder recorder;
  for (const std::string_view piece : pieces) segmenter.feed(piece, recorder);
  segmenter.end(recorder);
  return recorder;
}

/// A plan for calls in a row of the table, with thinking in <think>.
inline OutputPlan tools_plan(std::string_view syntax = "hermes") {
  OutputPlan plan;
  plan.tool_syntax = find_tool_syntax(syntax);
  plan.thinking = ThinkingTags{"<think>", "</think>"};
  return plan;
}

}  // namespace zerohop
