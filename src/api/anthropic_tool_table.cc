#include "api/anthropic_tool_table.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "api/json_writer.h"
#include "base/check.h"

namespace zerohop {
namespace {

// ---- Tools with one name ----

constexpr std::string_view kBash =
    "Run a command in a bash shell that keeps its state between calls. Set restart to true to "
    "begin again with a fresh shell.";
constexpr std::string_view kBashSchema =
    R"({"type":"object","properties":{)"
    R"("command":{"type":"string","description":"The command to run; not with restart"},)"
    R"("restart":{"type":"boolean","description":"true: restart the shell"}}})";

constexpr std::string_view kEditor =
    "View, create and edit files. The state is kept between calls. view shows a file with line "
    "numbers, or lists a directory; create writes a new file; str_replace replaces old_str, which "
    "must occur exactly once, by new_str; insert puts text behind line insert_line.";
constexpr std::string_view kUndoingEditor =
    "View, create and edit files. The state is kept between calls. view shows a file with line "
    "numbers, or lists a directory; create writes a new file; str_replace replaces old_str, which "
    "must occur exactly once, by new_str; insert puts new_str behind line insert_line; undo_edit "
    "takes the last edit of the file back.";
constexpr std::string_view kEditorSchema =
    R"({"type":"object","properties":{)"
    R"("command":{"type":"string","enum":["view","create","str_replace","insert"]},)"
    R"("path":{"type":"string","description":"Absolute path of a file or directory"},)"
    R"("file_text":{"type":"string","description":"create: the whole content"},)"
    R"("old_str":{"type":"string","description":"str_replace: the text to replace"},)"
    R"("new_str":{"type":"string","description":"str_replace: the text in its place"},)"
    R"("insert_line":{"type":"integer","description":"insert: the line to insert behind; 0: top"},)"
    R"("insert_text":{"type":"string","description":"insert: the text"},)"
    R"("view_range":{"type":"array","items":{"type":"integer"},)"
    R"("description":"view: first and last line, counted from 1; -1: to the end"}},)"
    R"("required":["command","path"]})";
constexpr std::string_view kUndoingEditorSchema =
    R"({"type":"object","properties":{)"
    R"("command":{"type":"string","enum":["view","create","str_replace","insert","undo_edit"]},)"
    R"("path":{"type":"string","description":"Absolute path of a file or directory"},)"
    R"("file_text":{"type":"string","description":"create: the whole content"},)"
    R"("old_str":{"type":"string","description":"str_replace: the text to replace"},)"
    R"("new_str":{"type":"string","description":"str_replace, insert: the new text"},)"
    R"("insert_line":{"type":"integer","description":"insert: the line to insert behind; 0: top"},)"
    R"("view_range":{"type":"array","items":{"type":"integer"},)"
    R"("description":"view: first and last line, counted from 1; -1: to the end"}},)"
    R"("required":["command","path"]})";

constexpr std::string_view kMemory =
    "Keep notes in files under /memories, which outlive this conversation. view shows a file or "
    "lists a directory; create writes a file; str_replace and insert edit one; delete and rename "
    "do what they say.";
constexpr std::string_view kMemorySchema =
    R"({"type":"object","properties":{)"
    R"("command":{"type":"string",)"
    R"("enum":["view","create","str_replace","insert","delete","rename"]},)"
    R"("path":{"type":"string","description":"Path under /memories; not with rename"},)"
    R"("file_text":{"type":"string","description":"create: the whole content"},)"
    R"("old_str":{"type":"string","description":"str_replace: the text to replace"},)"
    R"("new_str":{"type":"string","description":"str_replace: the text in its place"},)"
    R"("insert_line":{"type":"integer","description":"insert: the line to insert behind"},)"
    R"("insert_text":{"type":"string","description":"insert: the text"},)"
    R"("view_range":{"type":"array","items":{"type":"integer"},)"
    R"("description":"view: first and last line, counted from 1"},)"
    R"("old_path":{"type":"string","description":"rename: the path now"},)"
    R"("new_path":{"type":"string","description":"rename: the path then"}},)"
    R"("required":["command"]})";

constexpr std::string_view kComputer =
    "Use a mouse and keyboard to work with a computer, and take screenshots of its screen.";
constexpr std::string_view kComputerSchema2024 =
    R"({"type":"object","properties":{)"
    R"("action":{"type":"string","enum":["key","type","mouse_move","left_click",)"
    R"("left_click_drag","right_click","middle_click","double_click","screenshot",)"
    R"("cursor_position"]},)"
    R"("coordinate":{"type":"array","items":{"type":"integer"},)"
    R"("description":"x and y in pixels from the upper left corner"},)"
    R"("text":{"type":"string","description":"key, type: what to press or type"}},)"
    R"("required":["action"]})";
constexpr std::string_view kComputerSchema2025 =
    R"({"type":"object","properties":{)"
    R"("action":{"type":"string","enum":["key","hold_key","type","cursor_position","mouse_move",)"
    R"("left_mouse_down","left_mouse_up","left_click","left_click_drag","right_click",)"
    R"("middle_click","double_click","triple_click","scroll","wait","screenshot"]},)"
    R"("coordinate":{"type":"array","items":{"type":"integer"},)"
    R"("description":"x and y in pixels from the upper left corner"},)"
    R"("start_coordinate":{"type":"array","items":{"type":"integer"},)"
    R"("description":"left_click_drag: where to press"},)"
    R"("text":{"type":"string","description":"key, hold_key, type: what to press or type"},)"
    R"("duration":{"type":"number","description":"hold_key, wait: seconds"},)"
    R"("scroll_direction":{"type":"string","enum":["up","down","left","right"]},)"
    R"("scroll_amount":{"type":"integer","description":"scroll: clicks of the wheel"}},)"
    R"("required":["action"]})";
constexpr std::string_view kComputerSchemaZoom =
    R"({"type":"object","properties":{)"
    R"("action":{"type":"string","enum":["key","hold_key","type","cursor_position","mouse_move",)"
    R"("left_mouse_down","left_mouse_up","left_click","left_click_drag","right_click",)"
    R"("middle_click","double_click","triple_click","scroll","wait","screenshot","zoom"]},)"
    R"("coordinate":{"type":"array","items":{"type":"integer"},)"
    R"("description":"x and y in pixels from the upper left corner"},)"
    R"("start_coordinate":{"type":"array","items":{"type":"integer"},)"
    R"("description":"left_click_drag: where to press"},)"
    R"("region":{"type":"array","items":{"type":"integer"},)"
    R"("description":"zoom: x0, y0, x1, y1 in pixels"},)"
    R"("text":{"type":"string","description":"key, hold_key, type: what to press or type"},)"
    R"("duration":{"type":"number","description":"hold_key, wait: seconds"},)"
    R"("scroll_direction":{"type":"string","enum":["up","down","left","right"]},)"
    R"("scroll_amount":{"type":"integer","description":"scroll: clicks of the wheel"}},)"
    R"("required":["action"]})";

// Rows of one family stand together, oldest first.
constexpr std::array<KnownTool, 10> kKnownTools{{
    {"bash_20241022", "bash", kBash, kBashSchema},
    {"bash_20250124", "bash", kBash, kBashSchema},
    {"text_editor_20241022", "str_replace_editor", kUndoingEditor, kUndoingEditorSchema},
    {"text_editor_20250124", "str_replace_editor", kUndoingEditor, kUndoingEditorSchema},
    {"text_editor_20250429", "str_replace_based_edit_tool", kEditor, kEditorSchema},
    {"text_editor_20250728", "str_replace_based_edit_tool", kEditor, kEditorSchema},
    {"memory_20250818", "memory", kMemory, kMemorySchema},
    {"computer_20241022", "computer", kComputer, kComputerSchema2024},
    {"computer_20250124", "computer", kComputer, kComputerSchema2025},
    {"computer_20251124", "computer", kComputer, kComputerSchemaZoom},
}};

// ---- Toolsets ----

struct FieldRow {
  std::string_view row;  // what ToolsetMember::fields says
  std::string_view key;
  std::string_view schema;
};

constexpr std::string_view kPointSchema =
    R"({"type":"object","properties":{"type":{"const":"coordinate"},"x":{"type":"integer"},)"
    R"("y":{"type":"integer"}},"required":["type","x","y"]})";
constexpr std::string_view kElementSchema =
    R"({"type":"object","properties":{"type":{"const":"ref"},"ref":{"type":"string",)"
    R"("description":"A reference such as ref_7, from read_page or find"}},)"
    R"("required":["type","ref"]})";
constexpr std::string_view kClickSchema =
    R"({"anyOf":[{"type":"object","properties":{"type":{"const":"coordinate"},)"
    R"("x":{"type":"integer"},"y":{"type":"integer"}},"required":["type","x","y"]},)"
    R"({"type":"object","properties":{"type":{"const":"ref"},"ref":{"type":"string"}},)"
    R"("required":["type","ref"]}]})";
constexpr std::string_view kDirectionSchema =
    R"({"type":"string","enum":["up","down","left","right"]})";
constexpr std::string_view kIntegersSchema = R"({"type":"array","items":{"type":"integer"}})";
constexpr std::string_view kStringSchema = R"({"type":"string"})";
constexpr std::string_view kStringsSchema = R"({"type":"array","items":{"type":"string"}})";
constexpr std::string_view kIntegerSchema = R"({"type":"integer"})";
constexpr std::string_view kSecondsSchema = R"({"type":"number","description":"Seconds"})";

constexpr std::array<FieldRow, 26> kFields{{
    {"click", "target", kClickSchema},
    {"point", "target", kPointSchema},
    {"element", "target", kElementSchema},
    {"from", "from", kPointSchema},
    {"modifiers", "modifiers", kStringSchema},
    {"tab", "tab_id", kStringSchema},
    {"documents", "document_ids", kStringsSchema},
    {"paths", "paths", kStringsSchema},
    {"query", "query", kStringSchema},
    {"value", "value", R"({"type":["string","number","boolean"]})"},
    {"duration", "duration", kSecondsSchema},
    {"text", "text", kStringSchema},
    {"repeat", "repeat", kIntegerSchema},
    {"url", "url", kStringSchema},
    {"depth", "depth", kIntegerSchema},
    {"filter", "filter", R"({"type":"string","enum":["all","interactive"]})"},
    {"ref", "ref", kStringSchema},
    {"direction", "scroll_direction", kDirectionSchema},
    {"amount", "scroll_amount", kIntegerSchema},
    {"region", "region", kIntegersSchema},
    {"coordinate", "coordinate", kIntegersSchema},
    {"start", "start_coordinate", kIntegersSchema},
    {"held", "text", R"({"type":"string","description":"Keys held down meanwhile"})"},
    {"keys", "text", R"({"type":"string","description":"Such as Return or ctrl+s"})"},
    {"code", "text", R"({"type":"string","description":"JavaScript, without return"})"},
    {"address", "url", R"({"type":"string","description":"A URL, or back, forward, reload"})"},
}};

constexpr std::array<ToolsetMember, 17> kComputerMembers{{
    {"screenshot", "Take a screenshot of the screen.", ""},
    {"cursor_position", "Tell where the mouse pointer is, in pixels.", ""},
    {"mouse_move", "Move the mouse pointer without a click.", "coordinate!"},
    {"left_click", "Click there, or where the pointer is.", "coordinate held"},
    {"right_click", "Click the right button there, or where the pointer is.", "coordinate held"},
    {"middle_click", "Click the middle button there, or where the pointer is.", "coordinate held"},
    {"double_click", "Double-click there, or where the pointer is.", "coordinate held"},
    {"triple_click", "Triple-click there, or where the pointer is.", "coordinate held"},
    {"left_click_drag", "Press at the start, drag, release.", "start! coordinate! held"},
    {"left_mouse_down", "Press the left button and hold it.", ""},
    {"left_mouse_up", "Release the left button.", ""},
    {"scroll", "Turn the wheel there, or where the pointer is.",
     "direction! amount! coordinate held"},
    {"key", "Press a key or a combination of keys.", "keys! repeat"},
    {"hold_key", "Hold a key down for a time.", "keys! duration!"},
    {"type", "Type text on the keyboard.", "text!"},
    {"wait", "Wait for a time.", "duration!"},
    {"zoom", "Take a screenshot of a region (x0, y0, x1, y1), enlarged.", "region!"},
}};

constexpr std::array<ToolsetMember, 31> kBrowserMembers{{
    {"navigate", "Go to a URL, or through the history.", "address! tab"},
    {"list_tabs", "List the open tabs: tab_id, title and URL.", ""},
    {"new_tab", "Open an empty tab and tell its tab_id.", ""},
    {"switch_tab", "Make a tab the active one.", "tab!"},
    {"close_tab", "Close a tab.", "tab!"},
    {"read_page", "Read the page, or the part below ref, as a tree with element references.",
     "depth filter ref tab"},
    {"get_page_text", "Read the visible text of the page.", "tab"},
    {"read_console", "Read what the console said since the last time.", "tab"},
    {"read_network", "List the network requests since the last time.", "tab"},
    {"find", "Find elements by a description; gives references.", "query! tab"},
    {"form_input", "Set the value of a form element.", "element! value! tab"},
    {"file_upload", "Give files to a file input, by paths or document_ids.",
     "element! paths documents tab"},
    {"scroll_to", "Scroll until an element can be seen.", "element! tab"},
    {"screenshot", "Take a screenshot of the page.", "tab"},
    {"zoom", "Take a screenshot of a region (x0, y0, x1, y1), enlarged.", "region! tab"},
    {"left_click", "Click a point or an element.", "click! modifiers tab"},
    {"right_click", "Click a point or an element with the right button.", "click! modifiers tab"},
    {"middle_click", "Click a point or an element with the middle button.", "click! modifiers tab"},
    {"double_click", "Double-click a point or an element.", "click! modifiers tab"},
    {"triple_click", "Triple-click a point or an element.", "click! modifiers tab"},
    {"hover", "Move the pointer to a point or an element without a click.", "click! tab"},
    {"left_click_drag", "Press at one point, drag to another, release.", "from! point! tab"},
    {"left_mouse_down", "Press the left button at a point and hold it.", "point! tab"},
    {"left_mouse_up", "Release the left button at a point.", "point! tab"},
    {"mouse_move", "Move the pointer to a point.", "point! tab"},
    {"scroll", "Turn the wheel at a point.", "direction! point! amount tab"},
    {"type", "Type text where the focus is.", "text! tab"},
    {"key", "Press a key or a combination of keys.", "keys! repeat tab"},
    {"hold_key", "Hold a key down for a time.", "keys! duration! tab"},
    {"wait", "Wait for a time.", "duration! tab"},
    {"javascript_exec", "Run JavaScript in the page; gives the last expression's value.",
     "code! tab"},
}};

constexpr std::array<Toolset, 2> kToolsets{{
    {"computer_toolset_20260801", "computer", kComputerMembers},
    {"browser_toolset_20260801", "browser", kBrowserMembers},
}};

// ---- Tools of the hosted API ----

constexpr std::array<std::string_view, 7> kServerFamilies{
    "web_search", "web_fetch",  "code_execution", "tool_search_tool_regex", "tool_search_tool_bm25",
    "advisor",    "mcp_toolset"};

// `family` of `family_20250101`; empty when no date ends the type.
std::string_view family_of(std::string_view type) {
  constexpr std::size_t kDateDigits = 8;
  if (type.size() <= kDateDigits + 1) return {};
  const std::size_t split = type.size() - kDateDigits - 1;
  if (type[split] != '_') return {};
  const std::string_view date = type.substr(split + 1);
  const bool digits = std::ranges::all_of(date, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? type.substr(0, split) : std::string_view();
}

// The row of that type, else the last row of its family, else null.
template <class Rows>
auto find_row(const Rows& rows, std::string_view type) -> const typename Rows::value_type* {
  const std::string_view family = family_of(type);
  const typename Rows::value_type* newest = nullptr;
  for (const auto& row : rows) {
    if (row.type == type) return &row;
    if (!family.empty() && family_of(row.type) == family) newest = &row;
  }
  return newest;
}

const FieldRow& field_row(std::string_view name) {
  const auto* found = std::ranges::find(kFields, name, &FieldRow::row);
  ZH_CHECK(found != kFields.end());
  return *found;
}

}  // namespace

const KnownTool* find_known_tool(std::string_view type) { return find_row(kKnownTools, type); }

const Toolset* find_toolset(std::string_view type) { return find_row(kToolsets, type); }

std::string member_schema(const ToolsetMember& member) {
  std::string properties;
  std::string required;
  std::string_view rest = member.fields;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    std::string_view name = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool needed = name.ends_with('!');
    if (needed) name.remove_suffix(1);
    const FieldRow& row = field_row(name);
    if (!properties.empty()) properties.push_back(',');
    append_json_string(row.key, properties);
    properties.append(":").append(row.schema);
    if (!needed) continue;
    if (!required.empty()) required.push_back(',');
    append_json_string(row.key, required);
  }
  std::string schema = R"({"type":"object","properties":{)" + properties + "}";
  if (!required.empty()) schema += R"(,"required":[)" + required + "]";
  return schema + "}";
}

bool is_server_tool(std::string_view type) {
  const std::string_view family = family_of(type);
  return std::ranges::any_of(
      kServerFamilies, [&](std::string_view server) { return server == type || server == family; });
}

}  // namespace zerohop
