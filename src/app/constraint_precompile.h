// What a deployment needs at its first request, compiled before it is ready: the profiles of the
// configuration that have tools or a format, and files (`constraints.precompile`). A file holds one
// of
//
//   [{"name": …, "input_schema": {…}}, …]       tools, in either dialect
//   {"tools": […], "output_config": {…}, …}     the tools and the format of a request, in either
//   {"type": "json_schema", "schema": {…}}      a format, as in `output_config.format`
//   {"type": "json_schema", "json_schema": {…}} a format, as in `response_format`
//   {"format": {…}}                             what stands in `output_config`
//   {"name": …, "schema": {…}}                  what stands in `json_schema`
//   {"type": "object", "properties": {…}, …}    a JSON Schema, as the format of an answer
//
// and is refused if it holds none of these. As in requests, a schema in `json_schema` may be
// relaxed unless it says `strict`.
//
// The owner of the tier, at start.
#pragma once

#include "app/service.h"
#include "core/error.h"

namespace zerohop {

/// Errors: kConfiguration; the message names the file and the place in it.
Result<void> precompile_constraints(Service& service);

}  // namespace zerohop
