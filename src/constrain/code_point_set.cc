#include "constrain/code_point_set.h"

#include <algorithm>

#include "base/check.h"

namespace zerohop {

namespace {

// Stretches of code points in the order of picking; inside a stretch the smaller comes first.
constexpr CodePointRange kByReadability[] = {
    {U'a', U'z'},
    {U'A', U'Z'},
    {U'0', U'9'},
    {U' ', U' '},
    {U'-', U'/'},
    {U':', U'@'},
    {U'_', U'_'},
    {U'#', U','},
    {U'!', U'!'},
    {U'[', U'['},
    {U']', U'^'},
    {U'`', U'`'},
    {U'{', U'~'},
    {U'"', U'"'},
    {U'\\', U'\\'},
    {0xa0, 0xd7ff},
    {0xe000, kCodePointMax},
    {U'\t', U'\n'},
    {U'\f', U'\r'},
    {U'\b', U'\b'},
    {0, 7},
    {0xb, 0xb},
    {0xe, 0x1f},
    {0x7f, 0x9f},
};

void normalize(std::vector<CodePointRange>& ranges) {
  std::vector<CodePointRange> valid;
  valid.reserve(ranges.size());
  for (CodePointRange range : ranges) {
    range.last = std::min(range.last, kCodePointMax);
    if (range.first > range.last) continue;
    if (range.first < kSurrogateFirst && range.last >= kSurrogateFirst) {
      valid.push_back({range.first, kSurrogateFirst - 1});
    }
    if (range.last > kSurrogateLast && range.first <= kSurrogateLast) {
      valid.push_back({kSurrogateLast + 1, range.last});
    }
    if (range.last < kSurrogateFirst || range.first > kSurrogateLast) valid.push_back(range);
  }
  const auto before = [](const CodePointRange& a, const CodePointRange& b) {
    return a.first < b.first;
  };
  if (!std::is_sorted(valid.begin(), valid.end(), before)) {
    std::sort(valid.begin(), valid.end(), before);
  }
  ranges.clear();
  for (const CodePointRange& range : valid) {
    if (!ranges.empty() && range.first <= ranges.back().last + 1) {
      ranges.back().last = std::max(ranges.back().last, range.last);
    } else {
      ranges.push_back(range);
    }
  }
}

// The best of [first, last].
char32_t most_readable(CodePointRange range) {
  for (const CodePointRange& stretch : kByReadability) {
    const char32_t first = std::max(range.first, stretch.first);
    if (first <= std::min(range.last, stretch.last)) return first;
  }
  return range.first;
}

}  // namespace

CodePointSet::CodePointSet(std::initializer_list<CodePointRange> ranges)
    : CodePointSet(of(std::vector<CodePointRange>(ranges))) {}

CodePointSet CodePointSet::of(std::vector<CodePointRange> ranges) {
  normalize(ranges);
  CodePointSet set;
  if (!ranges.empty()) {
    set.ranges_ = std::make_shared<const std::vector<CodePointRange>>(std::move(ranges));
  }
  return set;
}

CodePointSet CodePointSet::all() {
  static const CodePointSet everything{{0, kCodePointMax}};
  return everything;
}

std::span<const CodePointRange> CodePointSet::ranges() const {
  if (!ranges_) return {};
  return *ranges_;
}

bool CodePointSet::contains(char32_t code_point) const {
  const auto parts = ranges();
  const auto behind = std::upper_bound(
      parts.begin(), parts.end(), code_point,
      [](char32_t wanted, const CodePointRange& range) { return wanted < range.first; });
  return behind != parts.begin() && code_point <= std::prev(behind)->last;
}

std::size_t CodePointSet::size() const {
  std::size_t members = 0;
  for (const CodePointRange& range : ranges()) members += range.last - range.first + 1;
  return members;
}

char32_t CodePointSet::pick() const {
  ZH_CHECK(!empty());
  char32_t best = most_readable(ranges().front());
  for (const CodePointRange& range : ranges()) {
    const char32_t candidate = most_readable(range);
    if (readability_rank(candidate) < readability_rank(best)) best = candidate;
  }
  return best;
}

CodePointSet operator|(const CodePointSet& a, const CodePointSet& b) {
  if (a.empty() || a.ranges_ == b.ranges_) return b;
  if (b.empty()) return a;
  std::vector<CodePointRange> ranges(a.ranges().size() + b.ranges().size());
  std::merge(a.ranges().begin(), a.ranges().end(), b.ranges().begin(), b.ranges().end(),
             ranges.begin(), [](const CodePointRange& left, const CodePointRange& right) {
               return left.first < right.first;
             });
  return CodePointSet::of(std::move(ranges));
}

CodePointSet operator&(const CodePointSet& a, const CodePointSet& b) {
  if (a.empty() || a.ranges_ == b.ranges_) return a;
  std::vector<CodePointRange> ranges;
  auto left = a.ranges().begin();
  auto right = b.ranges().begin();
  while (left != a.ranges().end() && right != b.ranges().end()) {
    const char32_t first = std::max(left->first, right->first);
    const char32_t last = std::min(left->last, right->last);
    if (first <= last) ranges.push_back({first, last});
    if (left->last < right->last) {
      ++left;
    } else {
      ++right;
    }
  }
  return CodePointSet::of(std::move(ranges));
}

CodePointSet CodePointSet::complement() const {
  std::vector<CodePointRange> gaps;
  char32_t next = 0;
  for (const CodePointRange& range : ranges()) {
    if (range.first > next) gaps.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kCodePointMax) gaps.push_back({next, kCodePointMax});
  return of(std::move(gaps));
}

bool operator==(const CodePointSet& a, const CodePointSet& b) {
  return a.ranges_ == b.ranges_ || std::ranges::equal(a.ranges(), b.ranges());
}

std::size_t CodePointSet::hash() const {
  std::uint64_t sum = 0x9e3779b97f4a7c15;
  for (const CodePointRange& range : ranges()) {
    sum = (sum ^ range.first) * 0xff51afd7ed558ccd;
    sum = (sum ^ (sum >> 32) ^ range.last) * 0xc4ceb9fe1a85ec53;
  }
  return static_cast<std::size_t>(sum ^ (sum >> 29));
}

std::uint32_t readability_rank(char32_t code_point) {
  std::uint32_t rank = 0;
  for (const CodePointRange& stretch : kByReadability) {
    if (code_point >= stretch.first && code_point <= stretch.last) {
      return rank + static_cast<std::uint32_t>(code_point - stretch.first);
    }
    rank += static_cast<std::uint32_t>(stretch.last - stretch.first + 1);
  }
  return UINT32_MAX;
}

}  // namespace zerohop
