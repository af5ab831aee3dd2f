// Dates and times of RFC 3339.
#include "constrain/format_terms.h"

namespace zerohop {

namespace {

std::string two_digits(unsigned value) {
  return {static_cast<char>('0' + value / 10), static_cast<char>('0' + value % 10)};
}

// Local times that are 23:59:60 in UTC, with their offsets:
//   hh:mm:60 is h+1 hours ahead of it at minute 59, h hours and mm+1 minutes at others, and the
//   rest of the day behind it.
// All 1,440 minutes would be some 12,000 states; offsets in use are whole quarters of an hour.
RegexTerm leap_second(RegexPool& pool) {
  std::vector<RegexTerm> ways;
  const RegexTerm seconds = pattern_term(pool, ":60(?:\\.\\d+)?");
  for (unsigned hour = 0; hour < 24; ++hour) {
    for (const unsigned minute : {14u, 29u, 44u, 59u}) {
      const unsigned ahead_hour = minute == 59 ? (hour + 1) % 24 : hour;
      std::string offsets = "\\+" + two_digits(ahead_hour) + ":" + two_digits((minute + 1) % 60);
      offsets += "|-" + two_digits(23 - hour) + ":" + two_digits(59 - minute);
      if (hour == 23 && minute == 59) offsets += "|[Zz]";
      ways.push_back(
          pool.concat_of({pattern_term(pool, two_digits(hour) + ":" + two_digits(minute)), seconds,
                          pattern_term(pool, offsets)}));
    }
  }
  return pool.either_of(std::move(ways));
}

}  // namespace

RegexTerm date_term(RegexPool& pool) {
  return pattern_term(pool,
                      "\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])"
                      "|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)"
                      "|02-(?:0[1-9]|1\\d|2[0-8]))"
                      "|(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])"
                      "|(?:[02468][048]|[13579][26])00)-02-29");
}

RegexTerm time_term(RegexPool& pool) {
  const RegexTerm usual = pattern_term(pool,
                                       "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?"
                                       "(?:[Zz]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)");
  return pool.either(usual, leap_second(pool));
}

}  // namespace zerohop
