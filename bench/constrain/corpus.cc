#include "corpus.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <fstream>
#include <utility>

namespace zerohop::bench {
namespace {

namespace json = boost::json;

const json::value* member(const json::object& object, std::string_view key) {
  return object.if_contains(json::string_view(key.data(), key.size()));
}

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* value = member(object, key);
  return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

const json::array& list_of(const json::object& object, std::string_view key) {
  static const json::array kNone;
  const json::value* value = member(object, key);
  return value && value->is_array() ? value->get_array() : kNone;
}

CorpusText read_text(const json::object& object) {
  CorpusText text{.text = text_of(object, "text")};
  const json::value* valid = member(object, "valid");
  text.valid = valid && valid->is_bool() && valid->get_bool();
  for (const json::value& token : list_of(object, "tokens")) {
    if (token.is_int64()) text.tokens.push_back(static_cast<Token>(token.get_int64()));
  }
  return text;
}

CorpusCase read_case(const json::object& object) {
  CorpusCase found{.set = text_of(object, "set"),
                   .name = text_of(object, "name"),
                   .schema = text_of(object, "schema"),
                   .tools = {},
                   .texts = {}};
  for (const json::value& tool : list_of(object, "tools")) {
    if (!tool.is_object()) continue;
    found.tools.push_back(
        {text_of(tool.get_object(), "name"), text_of(tool.get_object(), "parameters")});
  }
  for (const json::value& text : list_of(object, "texts")) {
    if (text.is_object()) found.texts.push_back(read_text(text.get_object()));
  }
  return found;
}

}  // namespace

Result<std::vector<CorpusCase>> read_corpus(const std::string& path) {
  std::ifstream file(path);
  if (!file) return invalid_request("", "cannot read " + path);
  std::vector<CorpusCase> cases;
  for (std::string line; std::getline(file, line);) {
    boost::system::error_code error;
    const json::value value = json::parse(line, error);
    if (error || !value.is_object()) {
      return invalid_request("",
                             path + ": line " + std::to_string(cases.size() + 1) + " is no case");
    }
    cases.push_back(read_case(value.get_object()));
  }
  return cases;
}

}  // namespace zerohop::bench
