#include "api/request_labels.h"

#include <boost/json/object.hpp>
#include <string_view>

#include "core/limits.h"

namespace zerohop {

RequestLabels request_labels(const JsonPlace& body) {
  RequestLabels labels;
  const auto metadata = body.find("metadata");
  if (!metadata || !metadata->value().is_object()) return labels;
  for (const auto& member : metadata->value().get_object()) {
    if (labels.size() == limits::kRequestLabelsMax) break;
    const std::string_view name(member.key().data(), member.key().size());
    if (name.empty() || name.size() > limits::kRequestLabelBytesMax) continue;
    if (name == "user_id" || name == "context") continue;
    const std::string_view text = metadata->text_or_empty(name);
    if (text.empty() || text.size() > limits::kRequestLabelBytesMax) continue;
    labels.emplace_back(name, text);
  }
  return labels;
}

}  // namespace zerohop
