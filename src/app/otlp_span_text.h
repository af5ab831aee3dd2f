// Spans as an OTLP request (ExportTraceServiceRequest, JSON form).
//
// A request is a span of kind SERVER with attributes after OpenTelemetry's conventions for HTTP
// servers and for generative AI (opentelemetry.io/docs/specs/semconv/gen-ai), and some of our own
// under `zerohop.`; its phases are spans of kind INTERNAL below it. Prompts, answers, messages of
// errors and keys are never in it: a record has none of the first two, the others are left out.
//
// Pure; any thread.
#pragma once

#include <span>
#include <string>

#include "app/otlp_text.h"
#include "app/request_span.h"
#include "http/endpoint.h"

namespace zerohop {

/// `server`: where it listens.
std::string otlp_span_text(std::span<const SpanRecord> spans, const Endpoint& server,
                           const otlp::Resource& resource);

}  // namespace zerohop
