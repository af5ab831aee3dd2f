#include "engine/engine_thread.h"

#include <pthread.h>

namespace zerohop {

EngineThread::EngineThread(EngineLoop& loop) : loop_(loop), thread_([this] { run(); }) {}

EngineThread::~EngineThread() { stop(); }

void EngineThread::stop() {
  loop_.stop();
  if (thread_.joinable()) thread_.join();
}

void EngineThread::run() {
  pthread_setname_np(pthread_self(), "engine");
  bool running = true;
  while (running) {
    if (!loop_.step()) running = loop_.wait();
  }
  loop_.fail_all();
}

}  // namespace zerohop
