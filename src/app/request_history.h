// The last requests that are over, for people who ask why one was slow, refused, cut or not in the
// cache: `zerohop explain`, `GET /v1/requests` and the console. In memory only; the log is what
// lasts. I/O thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>

#include "app/request_log.h"

namespace zerohop {

class RequestHistory {
 public:
  /// Probes and scrapes are not among them, nor, where keys are asked for, who showed none.
  static constexpr std::size_t kKept = 1000;

  void add(RequestRecord record);

  /// Null when it never was, or is no longer there.
  const RequestRecord* find(std::string_view id) const;

  /// The latest first, until `see` returns false.
  void latest(const std::function<bool(const RequestRecord&)>& see) const;

  // Of all since start, also of those that are no longer here
  std::uint64_t answered() const { return answered_; }  ///< with a status below 400
  std::uint64_t refused() const { return refused_; }    ///< with 400 and above
  /// Of the refused ones, those for limits or load or by a rule: nothing was wrong with them.
  std::uint64_t turned_away() const { return turned_away_; }

 private:
  std::deque<RequestRecord> records_;  // oldest first
  std::uint64_t answered_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t turned_away_ = 0;
};

}  // namespace zerohop
