#include "app/otlp_text.h"

#include "api/json_writer.h"
#include "telemetry/prometheus_text.h"

namespace zerohop::otlp {

void separate(std::string& out) {
  if (!out.empty() && !out.ends_with('[') && !out.ends_with('{')) out.push_back(',');
}

void member(std::string& out, std::string_view name) {
  separate(out);
  out.push_back('"');
  out.append(name).append("\":");
}

void text_member(std::string& out, std::string_view name, std::string_view text) {
  member(out, name);
  append_json_untrusted(text, out);
}

void long_member(std::string& out, std::string_view name, std::uint64_t number) {
  member(out, name);
  out.push_back('"');
  out.append(std::to_string(number)).push_back('"');
}

namespace {

void begin_attribute(std::string& out, std::string_view key, std::string_view kind) {
  separate(out);
  out.append("{\"key\":");
  append_json_untrusted(key, out);
  out.append(",\"value\":{\"").append(kind).append("\":");
}

void end_attribute(std::string& out) { out.append("}}"); }

}  // namespace

void attribute(std::string& out, std::string_view key, std::string_view text) {
  begin_attribute(out, key, "stringValue");
  append_json_untrusted(text, out);
  end_attribute(out);
}

void attribute(std::string& out, std::string_view key, std::int64_t number) {
  begin_attribute(out, key, "intValue");
  out.push_back('"');
  out.append(std::to_string(number)).push_back('"');
  end_attribute(out);
}

void attribute(std::string& out, std::string_view key, double number) {
  begin_attribute(out, key, "doubleValue");
  out.append(format_number(number));
  end_attribute(out);
}

void attribute(std::string& out, std::string_view key, bool value) {
  begin_attribute(out, key, "boolValue");
  out.append(value ? "true" : "false");
  end_attribute(out);
}

void list_attribute(std::string& out, std::string_view key, std::string_view text) {
  begin_attribute(out, key, "arrayValue");
  out.append("{\"values\":[{\"stringValue\":");
  append_json_untrusted(text, out);
  out.append("}]}");
  end_attribute(out);
}

namespace {

// What the configuration says itself stands in place of ours.
void append_resource(std::string& out, const Resource& resource) {
  member(out, "resource");
  out.append("{\"attributes\":[");
  const auto own = [&](std::string_view name, std::string_view value) {
    if (!resource.attributes.contains(std::string(name))) attribute(out, name, value);
  };
  own("service.name", resource.service_name);
  own("service.version", resource.version);
  own("service.instance.id", resource.instance);
  // As every series of the metrics page has them.
  own("instance_id", resource.instance);
  own("pool", resource.pool);
  for (const auto& [name, value] : resource.labels) own("zerohop.instance.label." + name, value);
  for (const auto& [name, value] : resource.attributes) attribute(out, name, value);
  out.append("]}");
}

}  // namespace

void begin_payload(std::string& out, std::string_view kind, const Resource& resource) {
  out.append("{\"resource").append(kind).append("\":[{");
  append_resource(out, resource);
  member(out, "scope" + std::string(kind));
  out.append("[{\"scope\":{\"name\":\"zerohop\",\"version\":");
  append_json_untrusted(resource.version, out);
  out.append("},\"");
  out.push_back(static_cast<char>(kind.front() - 'A' + 'a'));
  out.append(kind.substr(1)).append("\":[");
}

void end_payload(std::string& out) { out.append("]}]}]}"); }

}  // namespace zerohop::otlp
