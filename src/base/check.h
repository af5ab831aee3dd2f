// Assertions. A bug is a crash; what a peer or a user can cause is a value (base/result.h).
//
// ZH_CHECK stays on in every build: use it where continuing would corrupt state.
// ZH_DCHECK is compiled in for debug, relassert and sanitizer builds: use it on hot paths.
// Any thread. Prints file, line and condition to standard error, then aborts.
#pragma once

namespace zerohop {

[[noreturn]] void check_failed(const char* file, int line, const char* condition);

}  // namespace zerohop

#define ZH_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::zerohop::check_failed(__FILE__, __LINE__, #condition))

#if defined(ZEROHOP_ASSERTS)
#define ZH_DCHECK(condition) ZH_CHECK(condition)
#else
#define ZH_DCHECK(condition) static_cast<void>(sizeof(!(condition)))
#endif
