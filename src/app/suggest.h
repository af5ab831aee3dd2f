// "Did you mean": the closest of some known words. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zerohop {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (the optimal
/// string alignment distance). O(|a| × |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, when it is near enough to be a typing error: at most a third of
/// the word's letters (and at least one) differ. The first of equally near ones.
std::optional<std::string> closest_match(std::string_view word,
                                         std::span<const std::string_view> candidates);

/// "; did you mean 'X'?" or nothing, to be appended to a complaint about `word`.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace zerohop
