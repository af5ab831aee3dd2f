// An engine over the real default model, for tests that drive it step by step. Test code only.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "engine/engine_harness.h"
#include "model/llama_test_model.h"

namespace zerohop {

/// A fixture whose `loop`, once opened, computes with the default model; time stands still.
class WithEngineOnTheDefaultModel : public WithDefaultModel {
 protected:
  void TearDown() override { close(); }

  void open(ContextOptions context, EngineOptions options = {}) {
    close();
    ASSERT_NE(model, nullptr);
    context.window = 512;
    context.batch_rows = 64;
    context.logit_rows = 8;
    EngineParts parts;
    parts.context = model->make_context(context).value();
    parts.tokens = &model->tokenizer().table();
    parts.clock = &clock_;
    parts.waker = &waker_;
    parts.tokenize = [this](std::string_view text) {
      return model->tokenizer().tokenize(text, SpecialTokens::kInert);
    };
    options.window = parts.context->capabilities().slot_cells;
    options.batch_rows = context.batch_rows;
    options.logit_rows = context.logit_rows;
    loop = std::make_unique<EngineLoop>(std::move(parts), std::move(options));
  }
  void close() {
    if (!loop) return;
    loop->stop();
    loop->fail_all();
    loop.reset();
  }
  void run() {
    while (loop->step()) loop->check_integrity();
  }

  std::unique_ptr<EngineLoop> loop;

 private:
  VirtualClock clock_;
  CountingWaker waker_;
};

}  // namespace zerohop
