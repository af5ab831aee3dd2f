// The thread that drives an EngineLoop: it steps while there is work and sleeps while there is
// none. Idle means idle: no polling, no CPU.
#pragma once

#include <thread>

#include "engine/engine_loop.h"

namespace zerohop {

class EngineThread {
 public:
  /// Starts at once. The loop must outlive this object and is owned by the new thread until stop().
  explicit EngineThread(EngineLoop& loop);
  ~EngineThread();
  EngineThread(const EngineThread&) = delete;
  EngineThread& operator=(const EngineThread&) = delete;

  /// Aborts the running decode, ends what is left with kShuttingDown, joins. Idempotent.
  void stop();

 private:
  void run();

  EngineLoop& loop_;
  std::thread thread_;
};

}  // namespace zerohop
