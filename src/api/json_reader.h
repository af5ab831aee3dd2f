// Bytes of a stranger → a JSON tree, with a limit on everything that a stranger chooses.
//
// RFC 8259 without extensions (no comments, no trailing commas), except that a byte order mark in
// front is skipped, as that RFC allows. Of duplicate keys the last wins. Nothing may follow the
// value but white space. A number too large for a double becomes infinity here and is refused where
// a number is read (json_place.h), because one inside an ignored field harms nobody. Digits that a
// double does not hold are kept as they were written (json_numbers.h). Pure functions; any thread.
// Only this header of api/ shows Boost.JSON to others.
#pragma once

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>
#include <memory>
#include <string_view>

#include "core/error.h"

namespace zerohop {

/// A tree and the memory it lives in: one monotonic arena, freed at once. Owns copies of all text.
/// Moves by construction only: assigning a tree into another arena would copy it.
class JsonDocument {
 public:
  const boost::json::value& root() const { return root_; }

 private:
  friend Result<JsonDocument> parse_json(std::string_view text);

  JsonDocument(std::unique_ptr<boost::json::monotonic_resource> arena, boost::json::value root)
      : arena_(std::move(arena)), root_(std::move(root)) {}

  std::unique_ptr<boost::json::monotonic_resource> arena_;  // outlives root_: declared before it
  boost::json::value root_;
};

/// Parses one whole document. Errors (kInvalidRequest, no field): not UTF-8, not JSON, cut off,
/// deeper than limits::kJsonDepthMax, more than limits::kJsonValuesMax values. Where a place in the
/// bytes helps, the message names its offset, counted from 0. Throws nothing.
Result<JsonDocument> parse_json(std::string_view text);

}  // namespace zerohop
