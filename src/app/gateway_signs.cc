#include "app/gateway_signs.h"

#include <algorithm>
#include <optional>

namespace zerohop {
namespace {

constexpr std::array<std::string_view, kGateways> kNames{
    "akamai",  "apisix",  "aws",    "azure",    "bifrost", "caddy",   "cloudflare",
    "envoy",   "fastly",  "google", "helicone", "kong",    "litellm", "nginx",
    "portkey", "traefik", "tyk",    "varnish",  "vercel",  "other"};

struct Mark {
  std::string_view text;  // in lower case
  Gateway gateway;
  bool prefix = false;  // of the field's name; else all of it
};

// Fields of requests on their way to an origin. Those that clients of a product send to it (such as
// x-portkey-api-key) arrive here only if it passes them on, and then it is there as well.
constexpr std::array kMarks{
    Mark{"akamai-origin-hop", Gateway::kAkamai},
    Mark{"x-akamai-", Gateway::kAkamai, true},
    Mark{"x-apisix-", Gateway::kApisix, true},
    Mark{"x-amzn-trace-id", Gateway::kAws},
    Mark{"x-amz-cf-id", Gateway::kAws},
    Mark{"x-amzn-oidc-", Gateway::kAws, true},
    Mark{"x-azure-", Gateway::kAzure, true},
    Mark{"x-arr-log-id", Gateway::kAzure},
    Mark{"x-bf-", Gateway::kBifrost, true},
    Mark{"cf-ray", Gateway::kCloudflare},
    Mark{"cf-connecting-ip", Gateway::kCloudflare},
    Mark{"cf-aig-", Gateway::kCloudflare, true},
    Mark{"cdn-loop", Gateway::kOther},
    Mark{"x-envoy-", Gateway::kEnvoy, true},
    Mark{"x-ai-eg-", Gateway::kEnvoy, true},
    Mark{"fastly-", Gateway::kFastly, true},
    Mark{"x-cloud-trace-context", Gateway::kGoogle},
    Mark{"helicone-", Gateway::kHelicone, true},
    Mark{"x-kong-", Gateway::kKong, true},
    Mark{"x-consumer-", Gateway::kKong, true},
    Mark{"x-litellm-", Gateway::kLitellm, true},
    Mark{"x-real-ip", Gateway::kNginx},
    Mark{"x-nginx-", Gateway::kNginx, true},
    Mark{"x-portkey-", Gateway::kPortkey, true},
    Mark{"x-traefik-", Gateway::kTraefik, true},
    Mark{"x-tyk-", Gateway::kTyk, true},
    Mark{"x-varnish", Gateway::kVarnish},
    Mark{"x-vercel-", Gateway::kVercel, true},
    Mark{"via", Gateway::kOther},
    Mark{"forwarded", Gateway::kOther},
    Mark{"x-forwarded-", Gateway::kOther, true},
};

// Names of products in Via, wherever they stand in it.
constexpr std::array kViaNames{
    Mark{"kong", Gateway::kKong},       Mark{"google", Gateway::kGoogle},
    Mark{"varnish", Gateway::kVarnish}, Mark{"caddy", Gateway::kCaddy},
    Mark{"nginx", Gateway::kNginx},     Mark{"envoy", Gateway::kEnvoy},
    Mark{"vegur", Gateway::kOther},     Mark{"akamai", Gateway::kAkamai},
    Mark{"cloudfront", Gateway::kAws},  Mark{"traefik", Gateway::kTraefik},
    Mark{"apisix", Gateway::kApisix},
};

// First letters of all marks: most fields of a request differ from all of them in it.
constexpr bool may_be_mark(char first) {
  switch (first | 0x20) {
    case 'a':
    case 'c':
    case 'f':
    case 'h':
    case 'v':
    case 'x': return true;
    default: return false;
  }
}

bool fits(const Mark& mark, std::string_view name) {
  if (!mark.prefix) return equals_ignoring_case(name, mark.text);
  return equals_ignoring_case(name.substr(0, mark.text.size()), mark.text);
}

// A word of Via, so that `kongress` is not Kong.
bool names_product(std::string_view via, std::string_view product) {
  const auto is_letter = [](char c) { return to_lower(c) >= 'a' && to_lower(c) <= 'z'; };
  const auto same = [](char a, char b) { return to_lower(a) == b; };
  for (auto at = via.begin(); at != via.end();) {
    at = std::search(at, via.end(), product.begin(), product.end(), same);
    if (at == via.end()) return false;
    const auto behind = at + static_cast<std::ptrdiff_t>(product.size());
    const bool begins = at == via.begin() || !is_letter(*(at - 1));
    if (begins && (behind == via.end() || !is_letter(*behind))) return true;
    ++at;
  }
  return false;
}

GatewaySet named_in_via(std::string_view via) {
  GatewaySet set = 0;
  for (const Mark& mark : kViaNames) {
    if (names_product(via, mark.text)) set |= set_of(mark.gateway);
  }
  return set;
}

}  // namespace

std::string_view gateway_name(Gateway gateway) { return kNames[static_cast<std::size_t>(gateway)]; }

GatewaySet gateways_of(const Headers& headers) {
  GatewaySet set = 0;
  for (const HeaderField& field : headers) {
    if (field.name.empty() || !may_be_mark(field.name.front())) continue;
    for (const Mark& mark : kMarks) {
      if (!fits(mark, field.name)) continue;
      set |= set_of(mark.gateway);
      if (mark.text == "via") set |= named_in_via(field.value);
    }
  }
  // Who is known by name needs no second entry.
  const GatewaySet known = set & ~set_of(Gateway::kOther);
  return known != 0 ? known : set;
}

GatewaySet GatewaySightings::note(GatewaySet seen, TimePoint now) {
  GatewaySet fresh = 0;
  for_each_gateway(seen, [&](Gateway gateway) {
    Sighting& sighting = seen_[static_cast<std::size_t>(gateway)];
    if (sighting.requests++ == 0) fresh |= set_of(gateway);
    sighting.last = now;
  });
  return fresh;
}

}  // namespace zerohop
