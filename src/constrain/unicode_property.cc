#include "constrain/unicode_property.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "constrain/unicode_tables.h"

namespace zerohop {

namespace {

struct Name {
  std::string_view written;
  std::string_view categories;  // their short names, a blank behind each
};

// PropertyValueAliases of General_Category.
constexpr Name kCategories[] = {
    {"Cased_Letter", "Lu Ll Lt "},
    {"LC", "Lu Ll Lt "},
    {"Close_Punctuation", "Pe "},
    {"Connector_Punctuation", "Pc "},
    {"Control", "Cc "},
    {"cntrl", "Cc "},
    {"Currency_Symbol", "Sc "},
    {"Dash_Punctuation", "Pd "},
    {"Decimal_Number", "Nd "},
    {"digit", "Nd "},
    {"Enclosing_Mark", "Me "},
    {"Final_Punctuation", "Pf "},
    {"Format", "Cf "},
    {"Initial_Punctuation", "Pi "},
    {"Letter", "Lu Ll Lt Lm Lo "},
    {"L", "Lu Ll Lt Lm Lo "},
    {"Letter_Number", "Nl "},
    {"Line_Separator", "Zl "},
    {"Lowercase_Letter", "Ll "},
    {"Mark", "Mn Mc Me "},
    {"M", "Mn Mc Me "},
    {"Combining_Mark", "Mn Mc Me "},
    {"Math_Symbol", "Sm "},
    {"Modifier_Letter", "Lm "},
    {"Modifier_Symbol", "Sk "},
    {"Nonspacing_Mark", "Mn "},
    {"Number", "Nd Nl No "},
    {"N", "Nd Nl No "},
    {"Open_Punctuation", "Ps "},
    {"Other", "Cc Cf Cs Co Cn "},
    {"C", "Cc Cf Cs Co Cn "},
    {"Other_Letter", "Lo "},
    {"Other_Number", "No "},
    {"Other_Punctuation", "Po "},
    {"Other_Symbol", "So "},
    {"Paragraph_Separator", "Zp "},
    {"Private_Use", "Co "},
    {"Punctuation", "Pc Pd Ps Pe Pi Pf Po "},
    {"punct", "Pc Pd Ps Pe Pi Pf Po "},
    {"P", "Pc Pd Ps Pe Pi Pf Po "},
    {"Separator", "Zs Zl Zp "},
    {"Z", "Zs Zl Zp "},
    {"Space_Separator", "Zs "},
    {"Spacing_Mark", "Mc "},
    {"Surrogate", "Cs "},
    {"Symbol", "Sm Sc Sk So "},
    {"S", "Sm Sc Sk So "},
    {"Titlecase_Letter", "Lt "},
    {"Unassigned", "Cn "},
    {"Uppercase_Letter", "Lu "},
};

std::uint32_t digit_of(char letter) {
  return static_cast<std::uint32_t>(letter <= '9' ? letter - '0' : letter - 'a' + 10);
}

bool is_digit(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'v');
}

std::uint32_t take_number(std::string_view& text) {
  std::uint32_t number = 0;
  while (!text.empty() && is_digit(text.front())) {
    number = number * 32 + digit_of(text.front());
    text.remove_prefix(1);
  }
  return number;
}

CodePointSet set_of(std::string_view runs) {
  std::vector<CodePointRange> ranges;
  char32_t at = 0;
  for (bool inside = false; !runs.empty(); inside = !inside) {
    const std::uint32_t length = take_number(runs);
    runs.remove_prefix(1);
    if (inside) ranges.push_back({at, at + length - 1});
    at += length;
  }
  return CodePointSet::of(std::move(ranges));
}

/// The runs whose code of `code_size` letters `wanted` accepts.
template <class Wanted>
CodePointSet set_of_runs(std::string_view runs, std::size_t code_size, const Wanted& wanted) {
  std::vector<CodePointRange> ranges;
  char32_t at = 0;
  while (!runs.empty()) {
    const std::uint32_t length = take_number(runs) + 1;
    if (wanted(runs.substr(0, code_size))) ranges.push_back({at, at + length - 1});
    runs.remove_prefix(code_size);
    at += length;
  }
  return CodePointSet::of(std::move(ranges));
}

CodePointSet set_of_categories(std::string_view categories) {
  std::string letters;
  for (; !categories.empty(); categories.remove_prefix(3)) {
    const std::size_t place = kCategoryNames.find(categories.substr(0, 3));
    letters.push_back(kCategoryLetters[place / 3]);
  }
  return set_of_runs(kCategoryRuns, 1, [&](std::string_view code) {
    return letters.find(code.front()) != std::string::npos;
  });
}

std::optional<CodePointSet> category(std::string_view name) {
  for (const Name& known : kCategories) {
    if (known.written == name) return set_of_categories(known.categories);
  }
  if (name.size() != 2) return std::nullopt;
  const std::string padded = std::string(name) + ' ';
  if (kCategoryNames.find(padded) == std::string_view::npos) return std::nullopt;
  return set_of_categories(padded);
}

std::optional<CodePointSet> script(std::string_view name) {
  std::string_view rest = kScriptNames;
  for (std::size_t word = 0; !rest.empty(); ++word) {
    const std::size_t end = rest.find(' ');
    if (rest.substr(0, end) == name) {
      const std::size_t number = word / 2;
      const char code[] = {static_cast<char>('A' + number / 26),
                           static_cast<char>('A' + number % 26)};
      return set_of_runs(kScriptRuns, 2,
                         [&](std::string_view run) { return run == std::string_view(code, 2); });
    }
    rest.remove_prefix(end + 1);
  }
  return std::nullopt;
}

std::optional<CodePointSet> binary(std::string_view name) {
  if (name == "Any") return CodePointSet::all();
  if (name == "ASCII") return CodePointSet{{0, 0x7f}};
  if (name == "ASCII_Hex_Digit" || name == "AHex") {
    return CodePointSet{{U'0', U'9'}, {U'A', U'F'}, {U'a', U'f'}};
  }
  if (name == "Assigned") return set_of_categories("Cn ").complement();
  struct Table {
    std::string_view name;
    std::string_view brief;
    std::string_view runs;
  };
  const Table tables[] = {
      {"Alphabetic", "Alpha", kAlphabetic},
      {"Lowercase", "Lower", kLowercase},
      {"Uppercase", "Upper", kUppercase},
      {"Emoji", "Emoji", kEmoji},
      {"Extended_Pictographic", "ExtPict", kExtendedPictographic},
      {"ID_Start", "IDS", kIdStart},
      {"ID_Continue", "IDC", kIdContinue},
      {"White_Space", "space", kWhiteSpace},
  };
  for (const Table& table : tables) {
    if (name == table.name || name == table.brief) return set_of(table.runs);
  }
  return std::nullopt;
}

}  // namespace

std::optional<CodePointSet> unicode_property(std::string_view expression) {
  const std::size_t equals = expression.find('=');
  if (equals != std::string_view::npos) {
    const std::string_view property = expression.substr(0, equals);
    const std::string_view value = expression.substr(equals + 1);
    if (property == "General_Category" || property == "gc") return category(value);
    if (property == "Script" || property == "sc") return script(value);
    return std::nullopt;
  }
  if (auto set = category(expression)) return set;
  if (auto set = binary(expression)) return set;
  return script(expression);
}

}  // namespace zerohop
