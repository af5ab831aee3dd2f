// Somebody who talks to the server: makes the bodies of requests, and goes on from the answers.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "oracle.h"
#include "world_options.h"

namespace zerohop {

struct SimRequest {
  std::string body;
  std::string prefill;     ///< the answer continues it
  bool malformed = false;  ///< must be refused as an invalid request
};

class Speaker {
 public:
  /// All three outlive the speaker, who draws from `random` only inside its functions.
  Speaker(const WorldOptions& options, const Oracle& oracle, Random& random);

  /// The next request. Without an answer heard since, it says the same in other words.
  SimRequest next_request();

  /// A whole answer came: the conversation goes on from there.
  void hear(const SimRequest& request, const std::string& text);

 private:
  struct Turn {
    std::string role;
    std::string text;
  };

  std::string words(std::size_t count);
  boost::json::value content(const std::string& text);
  boost::json::array messages(std::string& prefill);
  void add_limits(boost::json::object& body);
  void add_stops(boost::json::object& body);
  void spoil(std::string& body);

  const WorldOptions& options_;
  const Oracle& oracle_;
  Random& random_;
  std::string system_;
  std::vector<Turn> turns_;  // the last one is the user's
};

}  // namespace zerohop
