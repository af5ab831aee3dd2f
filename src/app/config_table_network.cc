// The part of the configuration table that is about the network edge and identity.
#include <array>

#include "app/config_rules.h"
#include "app/config_table_parts.h"

namespace zerohop {
namespace {

constexpr std::array<std::string_view, 3> kAuthRequired{"auto", "always", "never"};
constexpr std::array<std::string_view, 2> kCoreDumps{"forbid", "allow"};
constexpr std::array<std::string_view, 3> kProxyPolicies{"off", "optional", "required"};
constexpr std::array<std::string_view, 2> kClientIdentities{"off", "key"};
constexpr std::array<std::string_view, 3> kClientCertificates{"off", "optional", "required"};

const std::array kTable{
    ConfigKey{"server.host", "--host", "ADDRESS",
              TextType{[](Config& c) -> std::string& { return c.server.host; }, host_rule}, "",
              "Address to listen on. Without API keys only loopback addresses are allowed.", ""},
    ConfigKey{"server.port", "--port", "PORT",
              IntegerType{[](Config& c) -> std::uint16_t& { return c.server.port; }, 0, 65'535}, "",
              "TCP port; 0 takes any free one, which the ready line names.", ""},
    ConfigKey{
        "server.unix_socket", "--unix-socket", "PATH",
        TextType{[](Config& c) -> std::string& { return c.server.unix_socket; }, socket_path_rule},
        "", "Listen on this Unix socket instead of host and port.", ""},
    ConfigKey{"server.connections_max", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.server.connections_max; }, 1,
                          1'000'000},
              "connections", "Open client connections; further ones are closed at once.", "",
              TakesEffect::kReload},
    ConfigKey{"server.body_bytes_max", "", "",
              IntegerType{[](Config& c) -> std::uint64_t& { return c.server.body_bytes_max; },
                          1'024, std::uint64_t{1} << 30},
              "bytes", "Largest request body.", "", TakesEffect::kReload},
    ConfigKey{"server.head_timeout_seconds", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.server.head_timeout_seconds; },
                          1, kSecondsMax},
              "seconds", "Longest time for a request's line and headers to arrive.", "",
              TakesEffect::kReload},
    ConfigKey{"server.body_timeout_seconds", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.server.body_timeout_seconds; },
                          1, kSecondsMax},
              "seconds", "Longest silence inside a request's body.", "", TakesEffect::kReload},
    ConfigKey{"server.idle_timeout_seconds", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.server.idle_timeout_seconds; },
                          1, kSecondsMax},
              "seconds", "Longest silence between two requests on one connection.", "",
              TakesEffect::kReload},
    ConfigKey{
        "server.write_timeout_seconds", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.server.write_timeout_seconds; }, 1,
                    kSecondsMax},
        "seconds", "Longest time that a client may leave bytes of its answer unread.", "",
        TakesEffect::kReload},
    ConfigKey{"server.drain_seconds", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.server.drain_seconds; }, 0,
                          kSecondsMax},
              "seconds", "After SIGTERM, time for running answers to finish.", "",
              TakesEffect::kReload},
    ConfigKey{
        "server.proxy_protocol", "", "",
        choice<[](Config& c) -> ProxyPolicy& { return c.server.proxy_protocol; }>(kProxyPolicies),
        "",
        "Whether a balancer writes a header of the PROXY protocol (version 1 or 2) in front of "
        "each connection to say who connected: optional reads it where there is one, required "
        "serves nobody without.",
        ""},
    ConfigKey{"server.proxy_protocol_from", "", "",
              TextListType{[](Config& c) -> std::vector<std::string>& {
                return c.server.proxy_protocol_from;
              }},
              "",
              "Addresses and networks of balancers whose PROXY header is believed, such as "
              "10.0.0.0/8; a header from others is refused.",
              "none"},
    ConfigKey{
        "server.address_connections_max", "", "",
        IntegerType{[](Config& c) -> std::uint32_t& { return c.server.address_connections_max; }, 1,
                    1'000'000, "off", 0},
        "connections",
        "Open connections of one address, or of one IPv6 /64; further ones are closed at once.", "",
        TakesEffect::kReload},
    ConfigKey{"server.address_requests_per_minute", "", "",
              IntegerType{
                  [](Config& c) -> std::uint32_t& { return c.server.address_requests_per_minute; },
                  1, 1'000'000'000, "off", 0},
              "requests",
              "Requests of one address, or of one IPv6 /64, a minute, before any key is looked at; "
              "further ones are refused with 429.",
              "", TakesEffect::kReload},
    ConfigKey{
        "server.address_exempt", "", "", TextListType{[](Config& c) -> std::vector<std::string>& {
          return c.server.address_exempt;
        }},
        "",
        "Addresses and networks without limits for each address. Unix sockets have none anyway.",
        "", TakesEffect::kReload},
    ConfigKey{
        "server.core_dumps", "", "",
        choice<[](Config& c) -> CoreDumps& { return c.server.core_dumps; }>(kCoreDumps), "",
        "Whether a crash may leave a core file, which would hold keys and prompts, and whether "
        "debuggers of the same user may look into the process.",
        ""},

    ConfigKey{"tls.certificate", "--tls-certificate", "FILE",
              TextType{[](Config& c) -> std::string& { return c.tls.certificate; }}, "",
              "Serve HTTPS with this certificate (PEM), behind it those between it and its root. "
              "The files are read again on SIGHUP and when they change.",
              "no TLS"},
    ConfigKey{"tls.private_key", "--tls-private-key", "FILE",
              TextType{[](Config& c) -> std::string& { return c.tls.private_key; }}, "",
              "Key of the certificate (PEM), without a password.", "none"},
    ConfigKey{"tls.client_ca", "", "FILE",
              TextType{[](Config& c) -> std::string& { return c.tls.client_ca; }}, "",
              "Authorities (PEM) whose certificates clients may show.", "none"},
    ConfigKey{"tls.client_certificates", "", "",
              choice<[](Config& c) -> ClientCertificates& { return c.tls.client_certificates; }>(
                  kClientCertificates),
              "",
              "Whether clients are asked for a certificate, and whether they are served without "
              "one.",
              ""},
    ConfigKey{"tls.client_identity", "", "",
              choice<[](Config& c) -> ClientIdentity& { return c.tls.client_identity; }>(
                  kClientIdentities),
              "",
              "Whether a client that shows a certificate and no key is served as the key of that "
              "name: the certificate's first DNS name, else its common name.",
              ""},
    ConfigKey{"tls.watch_seconds", "", "",
              IntegerType{[](Config& c) -> std::uint32_t& { return c.tls.watch_seconds; }, 1,
                          kSecondsMax, "off", 0},
              "seconds", "How often the files are looked at for a change.", ""},

    ConfigKey{"instance.id", "--instance-id", "ID",
              TextType{[](Config& c) -> std::string& { return c.instance.id; }, instance_id_rule},
              "", "Name of this process in headers, metrics and logs.",
              "pool and 8 random hex digits"},
    ConfigKey{"instance.pool", "--pool", "NAME",
              TextType{[](Config& c) -> std::string& { return c.instance.pool; }, name_rule}, "",
              "Group of instances that this one belongs to.", ""},
    ConfigKey{"instance.labels", "", "",
              TextMapType{[](Config& c) -> std::map<std::string, std::string>& {
                            return c.instance.labels;
                          },
                          name_rule, printable_rule},
              "", "Free labels of this instance.", "none", TakesEffect::kReload},
    ConfigKey{"instance.exclusive", "", "",
              BooleanType{[](Config& c) -> bool& { return c.instance.exclusive; }}, "",
              "Serve only keys of tenants of this pool, and requests that name this instance or a "
              "pattern that it fits in x-anthropic-instance-id; others get 421.",
              "", TakesEffect::kReload},
    ConfigKey{"instance.label_headers", "", "",
              TextMapType{[](Config& c) -> std::map<std::string, std::string>& {
                            return c.instance.label_headers;
                          },
                          name_rule, name_rule},
              "", "Labels that every answer carries, and the header of each.", "none",
              TakesEffect::kReload},
    ConfigKey{"instance.peers", "", "",
              TextMapType{
                  [](Config& c) -> std::map<std::string, std::string>& { return c.instance.peers; },
                  name_rule, printable_rule},
              "",
              "Other instances and their addresses, for who asks here for one of them (421) and "
              "for /v1/instances.",
              "none", TakesEffect::kReload},

    ConfigKey{"auth.no_auth", "--no-auth", "",
              BooleanType{[](Config& c) -> bool& { return c.auth.no_auth; }}, "",
              "Serve without API keys, on purpose. Only on loopback or a Unix socket.", ""},
    ConfigKey{"auth.required", "", "",
              choice<[](Config& c) -> AuthRequired& { return c.auth.required; }>(kAuthRequired), "",
              "Who has to show a key: auto asks everybody as soon as the store has held one, "
              "always also before that, never nobody (only on loopback or a Unix socket).",
              ""},
    ConfigKey{"auth.store", "--key-store", "FILE",
              TextType{[](Config& c) -> std::string& { return c.auth.store; }, not_empty_rule}, "",
              "Where keys and tenants are kept (`zerohop keys`); auto takes keys.sqlite in the "
              "user's state folder. Changes of the file are noticed within two seconds.",
              ""},

    ConfigKey{"admin.listen", "", "",
              TextType{[](Config& c) -> std::string& { return c.admin.listen; }, admin_listen_rule},
              "",
              "Where keys and tenants can be changed over HTTP: the path of a Unix socket, or "
              "HOST:PORT on loopback. An empty text turns it off.",
              ""},
    ConfigKey{
        "admin.token_file", "", "",
        TextType{[](Config& c) -> std::string& { return c.admin.token_file; }, not_empty_rule}, "",
        "Holds the token that its clients send as `Authorization: Bearer`; auto takes "
        "admin.token in the user's state folder and makes one where there is none.",
        ""},
};

}  // namespace

std::span<const ConfigKey> network_config_keys() { return kTable; }

}  // namespace zerohop
