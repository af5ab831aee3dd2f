#include "constrain/schema_loader.h"

#include <algorithm>
#include <utility>

#include "constrain/schema_loading.h"
#include "constrain/schema_uri.h"

namespace zerohop {
namespace {

std::optional<SchemaDraft> draft_of_uri(std::string_view uri) {
  const std::pair<std::string_view, SchemaDraft> names[] = {
      {"json-schema.org/draft-04/", SchemaDraft::k4},
      {"json-schema.org/draft-06/", SchemaDraft::k6},
      {"json-schema.org/draft-07/", SchemaDraft::k7},
      {"json-schema.org/draft/2019-09/", SchemaDraft::k2019},
      {"json-schema.org/draft/2020-12/", SchemaDraft::k2020},
  };
  for (const auto& [name, draft] : names) {
    if (uri.find(name) != std::string_view::npos) return draft;
  }
  return std::nullopt;
}

// What a meta-schema of somebody's own says about the schemas that name it.
void apply_meta_schema(SchemaLoading& loading, std::uint32_t resource, const JsonNode& meta) {
  const JsonNode* base = meta.find("$schema");
  if (base != nullptr && base->is(JsonNode::Type::kString)) {
    if (const auto draft = draft_of_uri(base->text)) {
      loading.set.resources[resource].draft = *draft;
    }
  }
  const JsonNode* vocabulary = meta.find("$vocabulary");
  if (vocabulary == nullptr || !vocabulary->is(JsonNode::Type::kObject)) return;
  bool validates = false;
  for (const auto& [uri, required] : vocabulary->members) {
    validates |= uri.ends_with("/vocab/validation");
    if (uri.ends_with("/vocab/format-assertion")) loading.traits[resource].assert_formats = true;
  }
  loading.set.resources[resource].validates = validates;
}

void read_schema_uri(SchemaLoading& loading, std::uint32_t resource, SchemaId id,
                     const JsonNode& node) {
  const JsonNode* uri = node.find("$schema");
  if (uri == nullptr) return;
  if (!uri->is(JsonNode::Type::kString)) {
    loading.invalid(id, "$schema", "must be a string");
    return;
  }
  if (uri->text.find("json-schema.org/draft-03/") != std::string::npos) {
    loading.refuse(SchemaRefusal::Kind::kUnsupported, id, "$schema", "draft 3 is not supported");
    return;
  }
  if (const auto draft = draft_of_uri(uri->text)) {
    loading.set.resources[resource].draft = *draft;
    loading.traits[resource].explicit_draft = true;
    return;
  }
  const JsonNode* meta = loading.known_document(split_fragment(uri->text).first);
  if (meta != nullptr && meta->is(JsonNode::Type::kObject)) {
    apply_meta_schema(loading, resource, *meta);
  }
}

bool is_local_name(std::string_view text) {
  return text.size() > 1 && text.front() == '#' && text[1] != '/';
}

struct Walk {
  const JsonNode* node;
  SchemaPlace place;
};

// One step of a JSON pointer. False: there is nothing.
bool step_into(SchemaLoading& loading, Walk& walk, const std::string& token) {
  const auto known = loading.places.find(walk.node);
  if (known != loading.places.end() && known->second > kNeverSchema) {
    const SchemaPart& part = loading.set.schemas[known->second];
    walk.place = SchemaPlace{known->second, std::string(), part.resource};
  }
  walk.place.step += pointer_step(token);
  if (walk.node->is(JsonNode::Type::kObject)) {
    walk.node = loading.member(*walk.node, token);
    return walk.node != nullptr;
  }
  const bool digits =
      !token.empty() && token.size() < 9 &&
      std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!walk.node->is(JsonNode::Type::kArray) || !digits) return false;
  const auto index = static_cast<std::size_t>(std::stoul(token));
  if (index >= walk.node->items.size()) return false;
  walk.node = &walk.node->items[index];
  return true;
}

SchemaId follow_pointer(SchemaLoading& loading, std::uint32_t resource, std::string_view pointer) {
  Walk walk{loading.traits[resource].node, SchemaPlace{kNoSchema, "", resource}};
  std::size_t at = 1;
  while (at <= pointer.size()) {
    const auto slash = std::min(pointer.find('/', at), pointer.size());
    std::string token;
    for (std::size_t i = at; i < slash; ++i) {
      const bool escape = pointer[i] == '~' && i + 1 < slash;
      if (escape && (pointer[i + 1] == '0' || pointer[i + 1] == '1')) {
        token.push_back(pointer[++i] == '0' ? '~' : '/');
      } else {
        token.push_back(pointer[i]);
      }
    }
    if (!step_into(loading, walk, token)) return kNoSchema;
    at = slash + 1;
  }
  return loading.load(*walk.node, walk.place);
}

// The schema that an absolute reference means; kNoSchema: there is none.
SchemaId find_target(SchemaLoading& loading, const std::string& uri, const std::string& fragment) {
  auto found = loading.resources.find(uri);
  if (found == loading.resources.end()) {
    const JsonNode* node = loading.known_document(uri);
    if (node == nullptr) return kNoSchema;
    loading.load_document(*node, uri);
    found = loading.resources.find(uri);
  }
  const std::uint32_t resource = found->second;
  if (fragment.empty()) return loading.set.resources[resource].root;
  if (fragment.front() == '/') return follow_pointer(loading, resource, fragment);
  const std::string& name = loading.set.resources[resource].uri;
  const auto anchor = loading.anchors.find(name + "#" + fragment);
  return anchor == loading.anchors.end() ? kNoSchema : anchor->second;
}

// A dynamic reference whose first target is no dynamic anchor is an ordinary one.
void settle_dynamic(SchemaSet& set, SchemaRule& rule, SchemaId target, const std::string& anchor) {
  const SchemaResource& resource = set.resources[set.schemas[target].resource];
  const auto& anchors = resource.dynamic_anchors;
  const bool dynamic = std::any_of(anchors.begin(), anchors.end(), [&](const auto& entry) {
    return entry.first == anchor && entry.second == target;
  });
  rule.kind = dynamic ? RuleKind::kDynamicReference : RuleKind::kReference;
  rule.text = dynamic ? anchor : std::string();
  set.dynamic |= dynamic;
}

}  // namespace

std::string pointer_step(std::string_view name) {
  std::string step = "/";
  for (const char c : name) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

void SchemaLoading::refuse(SchemaRefusal::Kind kind, SchemaId schema, std::string_view keyword,
                           std::string reason) {
  if (refusal) return;
  refusal = set.refusal(kind, {schema, keyword}, std::move(reason));
}

SchemaId SchemaLoading::load(const JsonNode& node, const SchemaPlace& place) {
  if (const auto known = places.find(&node); known != places.end()) return known->second;
  if (node.is(JsonNode::Type::kTrue) || node.is(JsonNode::Type::kFalse)) {
    const SchemaId id = node.is(JsonNode::Type::kTrue) ? kAlwaysSchema : kNeverSchema;
    places.emplace(&node, id);
    return id;
  }
  const auto id = static_cast<SchemaId>(set.schemas.size());
  set.schemas.push_back(SchemaPart{place.parent, place.step, place.resource, 0, 0});
  places.emplace(&node, id);
  if (!node.is(JsonNode::Type::kObject)) {
    invalid(id, "", "a schema must be an object or a boolean");
    return id;
  }
  identify(node, id, place.parent == kNoSchema && place.step.empty());
  if (!refusal) read_keywords(*this, node, id);
  return id;
}

void SchemaLoading::identify(const JsonNode& node, SchemaId id, bool document_root) {
  std::uint32_t resource = set.schemas[id].resource;
  if (document_root) read_schema_uri(*this, resource, id, node);
  const SchemaDraft outer = set.resources[resource].draft;
  const bool hidden = outer <= SchemaDraft::k7 && node.find("$ref") != nullptr;
  const JsonNode* identifier =
      hidden ? nullptr : node.find(outer == SchemaDraft::k4 ? "id" : "$id");
  if (identifier != nullptr && !identifier->is(JsonNode::Type::kString)) {
    invalid(id, "$id", "must be a string");
    return;
  }
  if (identifier != nullptr && !is_local_name(identifier->text)) {
    const auto [uri, fragment] =
        split_fragment(resolve_uri(set.resources[resource].uri, identifier->text));
    if (!document_root) {
      resource = static_cast<std::uint32_t>(set.resources.size());
      set.resources.push_back(set.resources[set.schemas[id].resource]);
      set.resources[resource].dynamic_anchors.clear();
      traits.push_back(traits[set.schemas[id].resource]);
      set.schemas[id].resource = resource;
      read_schema_uri(*this, resource, id, node);
    }
    set.resources[resource].uri = uri;
    set.resources[resource].root = id;
    traits[resource].node = &node;
    resources.emplace(uri, resource);
  } else if (identifier != nullptr && outer <= SchemaDraft::k7) {
    anchors.emplace(set.resources[resource].uri + identifier->text, id);
  }
  SchemaResource& home = set.resources[resource];
  if (const JsonNode* anchor = node.find("$anchor"); anchor != nullptr && !hidden) {
    anchors.emplace(home.uri + "#" + anchor->text, id);
  }
  const JsonNode* dynamic = node.find("$dynamicAnchor");
  if (dynamic != nullptr && home.draft >= SchemaDraft::k2020) {
    anchors.emplace(home.uri + "#" + dynamic->text, id);
    home.dynamic_anchors.emplace_back(dynamic->text, id);
  }
  const JsonNode* recursive = node.find("$recursiveAnchor");
  if (recursive != nullptr && recursive->is(JsonNode::Type::kTrue) && home.root == id &&
      home.draft == SchemaDraft::k2019) {
    home.dynamic_anchors.emplace_back("", id);
  }
}

const JsonNode* SchemaLoading::member(const JsonNode& object, std::string_view name) {
  auto& index = members[&object];
  if (index.empty()) {
    for (const auto& [key, node] : object.members) index.emplace(key, &node);
  }
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

const JsonNode* SchemaLoading::known_document(const std::string& uri) {
  const auto [found, added] = known_documents.emplace(uri, nullptr);
  if (!added) return found->second;
  const auto known =
      std::find_if(options.known.begin(), options.known.end(),
                   [&](const KnownSchema& each) { return split_fragment(each.uri).first == uri; });
  if (known == options.known.end()) return nullptr;
  auto node = parse_json_node(known->text, options.limits.json);
  if (node.ok()) found->second = &documents.emplace_back(std::move(node.value()));
  return found->second;
}

SchemaId SchemaLoading::load_document(const JsonNode& node, const std::string& uri) {
  const auto resource = static_cast<std::uint32_t>(traits.size());
  set.resources.resize(resource + 1);  // the first one is there from the beginning
  set.resources[resource].uri = uri;
  set.resources[resource].root = static_cast<SchemaId>(set.schemas.size());
  set.resources[resource].draft = options.draft;
  traits.push_back(ResourceTraits{&node, options.assert_formats, false});
  resources.emplace(uri, resource);
  const SchemaId id = load(node, SchemaPlace{kNoSchema, "", resource});
  set.resources[resource].root = id;
  return id;
}

void SchemaLoading::resolve_references() {
  while (!references.empty() && !refusal) {
    const RuleId id = references.back();
    references.pop_back();
    const std::string_view keyword = set.rules[id].keyword;
    const auto [uri, raw_fragment] = split_fragment(set.rules[id].text);
    const std::string fragment = percent_decoded(raw_fragment);
    const SchemaId target = find_target(*this, uri, fragment);
    SchemaRule& rule = set.rules[id];
    if (refusal) return;
    if (target == kNoSchema) {
      const bool known = resources.contains(uri);
      refuse(known ? SchemaRefusal::Kind::kInvalid : SchemaRefusal::Kind::kUnsupported, rule.owner,
             keyword, known ? "leads nowhere" : "leads to another document, and none is fetched");
      return;
    }
    rule.schemas = {target};
    if (keyword == "$ref") {
      rule.text.clear();
    } else {
      settle_dynamic(set, rule, target, keyword == "$recursiveRef" ? "" : fragment);
    }
  }
}

std::variant<SchemaSet, SchemaRefusal> load_schema(std::string_view text,
                                                   const SchemaOptions& options) {
  auto parsed = parse_json_node(text, options.limits.json);
  if (!parsed.ok()) {
    return SchemaRefusal{SchemaRefusal::Kind::kInvalid, "", "",
                         "not JSON: " + parsed.error().message};
  }
  SchemaLoading loading(options);
  const JsonNode& root = loading.documents.emplace_back(std::move(parsed.value()));
  // Without a name; its own pointers work so even where `$id` gives it one.
  loading.set.root = loading.load_document(root, "");
  if (!loading.refusal) loading.resolve_references();
  if (loading.refusal) return std::move(*loading.refusal);
  return std::move(loading.set);
}

}  // namespace zerohop
