#include "app/admin_api.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "api/error_body.h"
#include "app/admin_requests.h"
#include "app/admin_usage.h"
#include "app/config_keeper.h"
#include "app/config_rules.h"
#include "app/handlers.h"
#include "app/json_response.h"
#include "app/kept_files.h"
#include "app/key_watch.h"
#include "app/keys_report.h"
#include "app/whole_file.h"
#include "base/log.h"
#include "base/random.h"
#include "http/exchange.h"
#include "http/url.h"

namespace zerohop {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

constexpr std::size_t kTokenCharactersMin = 16;
constexpr std::size_t kTokenCharactersMax = 256;
constexpr std::size_t kTokenCharactersMade = 43;
constexpr std::size_t kBodyBytesMax = 64 << 10;

// ---- What the calls do with the store ----

Result<std::string> list_keys(KeyStore& store, const std::optional<std::string>& tenant,
                              WallTime now) {
  ZH_ASSIGN_OR_RETURN(const KeyStoreContents contents, store.read());
  const auto names = tenant_names(contents);
  json::array all;
  for (const KeyRecord& key : contents.keys) {
    const std::string& name = names.at(key.tenant);
    if (!tenant || name == *tenant) all.push_back(key_json(key, name, now));
  }
  return json::serialize(json::object{{"data", std::move(all)}});
}

Result<std::string> list_tenants(KeyStore& store) {
  ZH_ASSIGN_OR_RETURN(const KeyStoreContents contents, store.read());
  json::array all;
  for (const TenantRecord& tenant : contents.tenants) all.push_back(tenant_json(tenant));
  return json::serialize(json::object{{"data", std::move(all)}});
}

Result<std::string> create_key(KeyStore& store, const AdminBody& body, WallTime now) {
  const NewKey wanted = new_key_of(body, now);
  ZH_ASSIGN_OR_RETURN(const MadeKey made, store.create_key(wanted, now));
  json::object object = key_json(made.record, wanted.tenant, now);
  object["key"] = made.text;
  return json::serialize(object);
}

// One key as its change has left it.
Result<std::string> shown(KeyStore& store, const KeyRecord& key, WallTime now) {
  ZH_ASSIGN_OR_RETURN(const KeyStoreContents contents, store.read());
  return json::serialize(key_json(key, tenant_names(contents)[key.tenant], now));
}

Result<std::string> set_tenant(KeyStore& store, const AdminBody& body) {
  const auto apply = [&body](TenantRecord& tenant) { change_tenant(body, tenant); };
  ZH_ASSIGN_OR_RETURN(const TenantRecord tenant,
                      store.change_tenant(body.name.value_or(""), apply));
  return json::serialize(tenant_json(tenant));
}

Result<std::string> erase_tenant(KeyStore& store, const std::string& name) {
  ZH_ASSIGN_OR_RETURN(const std::size_t keys, store.erase_tenant(name));
  return json::serialize(json::object{{"deleted", name}, {"keys", keys}});
}

// ---- HTTP ----

Awaitable<void> answer(Service& service, Exchange& exchange, Result<KeyWatch::Work> work) {
  if (!work.ok()) {
    co_await exchange.respond_error(std::move(work).error());
    co_return;
  }
  if (service.key_watch == nullptr) {
    Error none{ErrorCode::kNotFound, "this server asks for no keys (--no-auth)", "", {}};
    co_await exchange.respond_error(std::move(none));
    co_return;
  }
  Result<std::string> body = co_await service.key_watch->with_store(std::move(work).value());
  if (!body.ok()) {
    co_await exchange.respond_error(std::move(body).error());
    co_return;
  }
  HttpResponse response = json_response(200, std::move(body).value());
  co_await exchange.respond(std::move(response));
}

using Make = std::function<Result<KeyWatch::Work>(Exchange& exchange, WallTime now)>;

Result<KeyWatch::Work> make_list_keys(Exchange& exchange, WallTime now) {
  const auto tenant = query_parameter(exchange.request().head.query, "tenant");
  return KeyWatch::Work([tenant, now](KeyStore& store) { return list_keys(store, tenant, now); });
}

Result<KeyWatch::Work> make_create_key(Exchange& exchange, WallTime now) {
  ZH_ASSIGN_OR_RETURN(
      AdminBody body,
      parse_admin_body(exchange.request().body, {"tenant", "name", "expires_days", "limits"}));
  return KeyWatch::Work(
      [body = std::move(body), now](KeyStore& store) { return create_key(store, body, now); });
}

Result<KeyWatch::Work> make_change_key(Exchange& exchange, WallTime now) {
  ZH_ASSIGN_OR_RETURN(AdminBody body, parse_admin_body(exchange.request().body, {"limits"}));
  return KeyWatch::Work([id = exchange.parameters().get("id"), body = std::move(body),
                         now](KeyStore& store) -> Result<std::string> {
    const auto apply = [&body](Limits& limits) { change_limits(body, limits); };
    ZH_ASSIGN_OR_RETURN(const KeyRecord key, store.change_key_limits(id, apply));
    return shown(store, key, now);
  });
}

Result<KeyWatch::Work> make_revoke_key(Exchange& exchange, WallTime now) {
  return KeyWatch::Work(
      [id = exchange.parameters().get("id"), now](KeyStore& store) -> Result<std::string> {
        ZH_ASSIGN_OR_RETURN(const KeyRecord key, store.revoke_key(id, now));
        return shown(store, key, now);
      });
}

Result<KeyWatch::Work> make_set_tenant(Exchange& exchange, WallTime) {
  ZH_ASSIGN_OR_RETURN(AdminBody body, parse_admin_body(exchange.request().body,
                                                       {"name", "weight", "priority", "pool",
                                                        "models", "overload_status", "limits"}));
  return KeyWatch::Work(
      [body = std::move(body)](KeyStore& store) { return set_tenant(store, body); });
}

Result<KeyWatch::Work> make_erase_tenant(Exchange& exchange, WallTime) {
  return KeyWatch::Work([name = exchange.parameters().get("name")](KeyStore& store) {
    return erase_tenant(store, name);
  });
}

// What is wrong with the configuration is no fault of the server's.
Awaitable<void> answer_reload(Exchange& exchange, Awaitable<Result<ConfigChanges>> reload) {
  Result<ConfigChanges> changes = co_await std::move(reload);
  if (!changes.ok()) {
    Error error = std::move(changes).error();
    error.code = ErrorCode::kInvalidRequest;
    error.field.clear();
    co_await exchange.respond_error(std::move(error));
    co_return;
  }
  HttpResponse response = json_response(200, config_changes_body(*changes));
  co_await exchange.respond(std::move(response));
}

Router make_admin_router(const AdminParts& parts) {
  Router router;
  Service& service = *parts.service;
  const auto add = [&](const std::string& method, const std::string& path, Make make) {
    router.add(method, path, [&service, make = std::move(make)](Exchange& exchange) {
      return answer(service, exchange, make(exchange, service.clock.wall()));
    });
  };
  add("GET", "/admin/keys", make_list_keys);
  add("POST", "/admin/keys", make_create_key);
  add("POST", "/admin/keys/{id}", make_change_key);
  add("DELETE", "/admin/keys/{id}", make_revoke_key);
  add("GET", "/admin/tenants",
      [](Exchange&, WallTime) -> Result<KeyWatch::Work> { return KeyWatch::Work(list_tenants); });
  add("POST", "/admin/tenants", make_set_tenant);
  add("DELETE", "/admin/tenants/{name}", make_erase_tenant);
  add_console_routes(router, service, ConsoleReach::kAll);
  add_metrics_route(router, service, ConsoleReach::kAll);
  router.add("GET", "/admin/usage",
             [&service](Exchange& exchange) { return answer_usage(service, exchange); });
  router.add("GET", "/admin/cache/misses", [&service](Exchange& exchange) {
    return exchange.respond(json_response(200, service.misses.body(std::nullopt)));
  });
  router.add("POST", "/admin/reload", [reload = parts.reload](Exchange& exchange) {
    return answer_reload(exchange, reload());
  });
  return router;
}

HttpResponse error_answer(const Error& error) {
  HttpResponse response =
      json_response(error_traits(error.code).status, anthropic_error_body(error, ""));
  if (error.code == ErrorCode::kAuthentication) {
    response.headers.push_back(HeaderField{"www-authenticate", "Bearer"});
  }
  return response;
}

// Compared as hashes, in constant time, whatever was sent.
ServerHooks make_admin_hooks(const std::string& token) {
  const auto hasher = std::make_shared<const KeyHasher>(os_random_text(kTokenCharactersMade));
  const KeyHash wanted = hasher->hash(token);
  ServerHooks hooks;
  hooks.on_head = [hasher, wanted](const RequestHead& head,
                                   std::shared_ptr<void>&) -> std::optional<HttpResponse> {
    if (head.path == "/console") return std::nullopt;  // a page without data; it asks for the token
    const Result<Credential> shown_token = read_credential(head.headers);
    if (shown_token.ok() && same_hash(hasher->hash(shown_token->text), wanted)) {
      return std::nullopt;
    }
    return error_answer(Error{ErrorCode::kAuthentication,
                              "the admin token is missing or wrong (Authorization: Bearer TOKEN)",
                              "",
                              {}});
  };
  hooks.error_response = [](const ExchangeContext&, const Error& error) {
    return error_answer(error);
  };
  hooks.on_done = [](const ExchangeSummary& summary) {
    log_info("admin", {{"method", summary.head == nullptr ? "" : summary.head->method},
                       {"route", std::string(summary.route)},
                       {"status", std::to_string(summary.status)}});
  };
  return hooks;
}

ServerOptions admin_options() {
  ServerOptions options;
  options.connections_max = 64;
  options.body_bytes_max = kBodyBytesMax;
  return options;
}

Error bad_token(const fs::path& file, const std::string& what) {
  return Error{
      ErrorCode::kConfiguration, "admin.token_file: '" + file.string() + "' " + what, "", {}};
}

// Never readable by others, not even for a moment.
std::error_code write_private(const fs::path& file, const std::string& text) {
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (out < 0) return {errno, std::generic_category()};
  const ssize_t written = ::write(out, text.data(), text.size());
  const int closed = ::close(out);
  if (written == static_cast<ssize_t>(text.size()) && closed == 0) return {};
  const int fault = errno == 0 ? ENOSPC : errno;
  ::unlink(file.c_str());
  return {fault, std::generic_category()};
}

Result<void> make_token_file(const fs::path& file) {
  std::error_code fault;
  fs::create_directories(file.parent_path(), fault);
  const std::string token = os_random_text(kTokenCharactersMade) + "\n";
  if (!fault) fault = write_private(file, token);
  if (fault) return bad_token(file, "cannot be made: " + fault.message());
  log_info("an admin token was made", {{"file", file.string()}});
  return {};
}

}  // namespace

Result<std::string> admin_token(const AdminConfig& config) {
  ZH_ASSIGN_OR_RETURN(const fs::path file, state_path(config.token_file, "admin.token"));
  if (config.token_file == "auto") {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) ZH_RETURN_IF_ERROR(make_token_file(file));
  }
  std::error_code fault;
  const fs::perms rights = fs::status(file, fault).permissions();
  if (!fault && (rights & (fs::perms::group_all | fs::perms::others_all)) != fs::perms::none) {
    return bad_token(file, "may be read by others than its owner; chmod 600 it");
  }
  std::optional<std::string> text = read_whole(file, kTokenCharactersMax + 2);
  if (!text) return bad_token(file, "cannot be read");
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (text->size() < kTokenCharactersMin) return bad_token(file, "holds less than 16 characters");
  return std::move(*text);
}

AdminApi::AdminApi(const AdminParts& parts)
    : http_(std::make_unique<HttpServer>(*parts.io, parts.service->clock, admin_options(),
                                         make_admin_hooks(parts.token), make_admin_router(parts))) {
}

Result<std::unique_ptr<AdminApi>> AdminApi::open(const AdminParts& parts) {
  const std::string& listen = parts.service->config.admin.listen;
  std::unique_ptr<AdminApi> api(new AdminApi(parts));
  if (listen.starts_with('/')) {
    ZH_ASSIGN_OR_RETURN(api->endpoint_, api->http_->listen_unix(listen));
    return api;
  }
  const std::optional<HostAndPort> place = split_host_and_port(listen);
  ZH_CHECK(place.has_value());  // the rule of the key
  ZH_ASSIGN_OR_RETURN(api->endpoint_, api->http_->listen_tcp(place->host, place->port));
  return api;
}

void AdminApi::stop() {
  http_->stop_accepting();
  http_->close_all();
}

}  // namespace zerohop
