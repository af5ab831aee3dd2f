// Unicode 15.0 character data as runs from U+0000 to U+10FFFF, in a form that is short as text.
//
// A number is written in base 32 with the digits 0-9a-v, most significant first. Not for use but by
// unicode_property.cc.
#pragma once

#include <string_view>

namespace zerohop {

/// Runs of one general category: the length of the run less one, then the category's letter, the
/// place in kCategoryLetters of its name in kCategoryNames.
extern const std::string_view kCategoryRuns;
extern const std::string_view kCategoryLetters;
extern const std::string_view kCategoryNames;  ///< two letters each, a blank behind each

/// Runs of one script: the length less one, then two capitals, the number of the script's short and
/// long name in kScriptNames (AA is 0, AB is 1, …).
extern const std::string_view kScriptRuns;
extern const std::string_view kScriptNames;  ///< a blank behind each

/// Of a set: by turns how many code points are outside and how many inside, a blank behind each.
extern const std::string_view kAlphabetic;
extern const std::string_view kLowercase;
extern const std::string_view kUppercase;
extern const std::string_view kEmoji;
extern const std::string_view kExtendedPictographic;
extern const std::string_view kIdStart;
extern const std::string_view kIdContinue;
extern const std::string_view kWhiteSpace;

}  // namespace zerohop
