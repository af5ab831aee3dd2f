#include "app/ask_server.h"

#include <optional>

#include "app/environment.h"
#include "app/http_get.h"
#include "app/whole_file.h"

namespace zerohop {
namespace {

constexpr std::size_t kTokenBytesMax = 512;

Result<std::string> credential_of(const ServerPlace& place) {
  if (place.token_file.empty()) {
    const Environment environment = process_environment();
    const auto found = environment.find("ANTHROPIC_API_KEY");
    return found == environment.end() ? std::string() : std::string(found->second);
  }
  std::optional<std::string> text = read_whole(place.token_file, kTokenBytesMax);
  if (!text) {
    return Error{ErrorCode::kConfiguration,
                 "--token-file: '" + place.token_file + "' cannot be read",
                 "",
                 {}};
  }
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  return *std::move(text);
}

}  // namespace

Result<std::string> ask_server(const ServerPlace& place, std::string_view path) {
  std::string url = place.url;
  while (url.ends_with('/')) url.pop_back();
  ZH_ASSIGN_OR_RETURN(const std::string credential, credential_of(place));
  Result<std::string> body =
      http_get(url + std::string(path), {.time = kHttpGetTime, .bearer = credential});
  if (body.ok() || body.error().code != ErrorCode::kAuthentication) return body;
  Error error = body.error();
  error.message +=
      "; set ANTHROPIC_API_KEY to a key, or name the file of the admin token with --token-file";
  return error;
}

}  // namespace zerohop
