// The one form of every JSON answer. Any thread.
#pragma once

#include <string>
#include <utility>

#include "http/message.h"

namespace zerohop {

inline HttpResponse json_response(int status, std::string body) {
  HttpResponse response;
  response.status = status;
  response.headers.push_back(HeaderField{"content-type", "application/json"});
  response.body = std::move(body);
  return response;
}

}  // namespace zerohop
