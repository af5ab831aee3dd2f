#include "constrain/schema_form.h"

namespace zerohop {
namespace {

std::size_t memory_of(const std::vector<ValueChoice>& choices) {
  return sizeof(choices) + choices.size() * sizeof(ValueChoice);
}

}  // namespace

std::size_t memory_of(const SchemaAlternative& alternative) {
  std::size_t bytes = sizeof(alternative);
  if (const auto* array = std::get_if<ArrayForm>(&alternative)) {
    for (const auto& place : array->prefix) bytes += memory_of(place);
    bytes += memory_of(array->rest);
  } else if (const auto* object = std::get_if<ObjectForm>(&alternative)) {
    for (const auto& property : object->declared) {
      bytes += sizeof(property) + property.name.size() + memory_of(property.value);
      bytes += property.needs.size() * sizeof(property.needs[0]);
    }
    for (const auto& others : object->others) bytes += sizeof(others) + memory_of(others.value);
  }
  return bytes;
}

}  // namespace zerohop
