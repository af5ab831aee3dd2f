#include "constrain/soft_cap.h"

#include <array>
#include <utility>

namespace zerohop {
namespace {

constexpr std::array<std::string_view, 4> kMarks{".", "!", "?", "…"};
constexpr std::array<std::string_view, 8> kClosings{"", "\"", "'", ")", "”", "’", "*", "**"};
constexpr std::array<std::string_view, 2> kSpaces{" ", "\n"};
// Of scripts that put no space behind a sentence.
constexpr std::array<std::string_view, 4> kWideMarks{"。", "！", "？", "।"};

// With the space in front, so that "game. " still ends a sentence.
constexpr std::array<std::string_view, 12> kAbbreviations{" e.g. ", "(e.g. ", " i.e. ", "(i.e. ",
                                                          " vs. ",  " cf. ",  " Mr. ",  " Mrs. ",
                                                          " Ms. ",  " Dr. ",  " St. ",  " No. "};

struct SentenceEnds {
  std::vector<std::string> texts;
  std::vector<std::size_t> shown;

  void add(std::string text, std::size_t bytes_shown) {
    texts.push_back(std::move(text));
    shown.push_back(bytes_shown);
  }
};

SentenceEnds make_sentence_ends() {
  SentenceEnds ends;
  for (const std::string_view mark : kMarks) {
    for (const std::string_view closing : kClosings) {
      std::string shown(mark);
      shown.append(closing);
      for (const std::string_view space : kSpaces)
        ends.add(shown + std::string(space), shown.size());
    }
  }
  for (const std::string_view mark : kWideMarks) ends.add(std::string(mark), mark.size());
  ends.add("\n\n", 0);
  return ends;
}

}  // namespace

std::shared_ptr<const SoftCapStops> SoftCapStops::compile(std::span<const std::string> hard,
                                                          const SoftCap& cap) {
  std::shared_ptr<SoftCapStops> soft(new SoftCapStops);
  std::vector<std::string> texts(hard.begin(), hard.end());
  texts.insert(texts.end(), cap.stops.begin(), cap.stops.end());
  soft->abbreviations_ = texts.size();
  if (cap.sentence_end) texts.insert(texts.end(), kAbbreviations.begin(), kAbbreviations.end());
  soft->sentences_ = texts.size();
  if (cap.sentence_end) {
    SentenceEnds ends = make_sentence_ends();
    texts.insert(texts.end(), ends.texts.begin(), ends.texts.end());
    soft->marks_ = std::move(ends.shown);
  }
  soft->automaton_ = StopAutomaton::compile(texts);
  return soft;
}

std::string_view SoftCapStops::reported(std::size_t index) const {
  const std::string_view text = automaton_->stop(index);
  const std::size_t shown = bytes_shown(index);
  return shown == 0 ? text : text.substr(0, shown);
}

}  // namespace zerohop
