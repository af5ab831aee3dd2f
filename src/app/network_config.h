// What the configuration says of the network edge, as http wants it. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "admission/address_limits.h"
#include "app/config.h"
#include "base/ip_address.h"
#include "core/error.h"
#include "http/server_options.h"
#include "http/tls_context.h"

namespace zerohop {

/// What no single key can say: networks that are none, TLS without its key, clients' certificates
/// without an authority. Errors: kConfiguration.
Result<void> check_network_rules(const Config& config);

/// Of a configuration that was checked. Without the TLS context, whose files are read at start.
ServerOptions server_options(const Config& config);

/// Of texts that were checked.
std::vector<IpNetwork> networks_of(const std::vector<std::string>& texts);

AddressRules address_rules(const ServerConfig& config);

bool serves_tls(const Config& config);
TlsFiles tls_files(const TlsConfig& config);

}  // namespace zerohop
