// What schema_loader.cc and schema_keywords.cc share: the state of one loading.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "constrain/schema_compiler.h"
#include "constrain/schema_rules.h"

namespace zerohop {

/// Where a sub-schema stands.
struct SchemaPlace {
  SchemaId parent = kNoSchema;
  std::string step;
  std::uint32_t resource = 0;
};

/// What only the reading of a resource needs to know about it.
struct ResourceTraits {
  const JsonNode* node = nullptr;  ///< its root
  bool assert_formats = true;
  bool explicit_draft = false;  ///< `$schema` says which draft
};

struct SchemaLoading {
  SchemaSet set;
  const SchemaOptions& options;
  std::optional<SchemaRefusal> refusal;  ///< the first one
  std::deque<JsonNode> documents;
  std::vector<ResourceTraits> traits;  ///< of set.resources
  std::unordered_map<const JsonNode*, SchemaId> places;
  std::unordered_map<std::string, std::uint32_t> resources;          ///< by URI
  std::unordered_map<std::string, const JsonNode*> known_documents;  ///< by URI; nullptr: none
  std::unordered_map<std::string, SchemaId> anchors;                 ///< by URI '#' name
  /// Members of objects that pointers lead through: `$defs` may be large.
  std::unordered_map<const JsonNode*, std::unordered_map<std::string_view, const JsonNode*>>
      members;
  std::vector<RuleId> references;  ///< whose `text` is still a URI

  explicit SchemaLoading(const SchemaOptions& chosen) : options(chosen) {}

  /// Remembers the first refusal; nothing else happens, callers go on to the end.
  void refuse(SchemaRefusal::Kind kind, SchemaId schema, std::string_view keyword,
              std::string reason);
  void invalid(SchemaId schema, std::string_view keyword, std::string reason) {
    refuse(SchemaRefusal::Kind::kInvalid, schema, keyword, std::move(reason));
  }

  /// The schema at `node`, read when it is met for the first time.
  SchemaId load(const JsonNode& node, const SchemaPlace& place);
  /// A schema that only values equal to `value` satisfy.
  SchemaId constant(const JsonNode& value, SchemaId like);
  /// Reads `$id`, `$schema`, anchors of the object `node`, which is schema `id`.
  void identify(const JsonNode& node, SchemaId id, bool document_root);
  /// The member of that name, or nullptr.
  const JsonNode* member(const JsonNode& object, std::string_view name);
  /// The document of that URI, or nullptr.
  const JsonNode* known_document(const std::string& uri);
  /// Loads a whole document; the schema itself is the first one.
  SchemaId load_document(const JsonNode& node, const std::string& uri);
  void resolve_references();
};

/// Reads the keywords of the object `node`, which is schema `id`, and appends its rules.
void read_keywords(SchemaLoading& loading, const JsonNode& node, SchemaId id);

/// A name as a step of a JSON pointer, '/' in front.
std::string pointer_step(std::string_view name);

}  // namespace zerohop
