#include "app/constrain_report.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>

#include "app/tokenize_text.h"
#include "base/utf8.h"

namespace zerohop {
namespace {

namespace json = boost::json;
using Wanted = ExpectedText::Wanted;

constexpr std::size_t kShownBytes = 120;  // of a text, for people
constexpr std::size_t kShownBefore = 24;  // of it, in front of the byte that is not allowed

std::string_view advice(SchemaRefusal::Kind kind) {
  switch (kind) {
    case SchemaRefusal::Kind::kInvalid: return "it is not valid as it stands";
    case SchemaRefusal::Kind::kUnsupported:
      return "it cannot be followed exactly from left to right; say it in other keywords, or leave "
             "it "
             "out and check the answer";
    case SchemaRefusal::Kind::kUnsatisfiable: return "it contradicts itself";
    case SchemaRefusal::Kind::kTooLarge: break;
  }
  return "it is beyond the limits of size, depth, time or memory";
}

std::string milliseconds(Duration duration) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3f ms", to_milliseconds(duration));
  return buffer;
}

std::string counted(std::size_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

std::string shown(std::string_view text) {
  if (text.size() <= kShownBytes) return quoted_piece(text);
  std::string_view head = text.substr(0, kShownBytes);
  head.remove_suffix(utf8_incomplete_suffix(head));
  return quoted_piece(head) + "...";
}

// The bytes as ranges: `"` 0-9 \x80-\xf4.
std::string shown_bytes(std::string_view bytes) {
  const auto one = [](char byte) {
    const std::string quoted = quoted_piece(std::string_view(&byte, 1));
    return byte == '"' ? std::string("\"") : quoted.substr(1, quoted.size() - 2);
  };
  const auto code = [](char byte) { return static_cast<unsigned char>(byte); };
  std::string out;
  for (std::size_t i = 0; i < bytes.size();) {
    std::size_t last = i;
    while (last + 1 < bytes.size() && code(bytes[last + 1]) == code(bytes[last]) + 1) ++last;
    if (!out.empty()) out.push_back(' ');
    out += bytes[i] == ' ' ? "blank" : one(bytes[i]);
    if (last > i) out += (last > i + 1 ? "-" : " ") + one(bytes[last]);
    i = last + 1;
  }
  return out;
}

std::string place_of(std::string_view text, std::size_t at) {
  const std::string_view read = text.substr(0, at);
  const auto lines = static_cast<std::size_t>(std::count(read.begin(), read.end(), '\n'));
  std::string place = "at byte " + std::to_string(at);
  if (lines > 0) {
    place += " (line " + std::to_string(lines + 1) + ", column " +
             std::to_string(at - read.rfind('\n')) + ")";
  }
  return place;
}

std::string expectation(std::string_view possible) {
  return possible.empty() ? "nothing more may come" : "may come: " + shown_bytes(possible);
}

// Why a text is not accepted.
std::string obstacle(std::string_view text, const TextFinding& finding) {
  if (finding.read == text.size()) {
    return "it ends too early, at byte " + std::to_string(finding.read) + "; " +
           expectation(finding.possible);
  }
  std::string_view before = text.substr(0, finding.read);
  std::string_view from = text.substr(finding.read);
  if (before.size() > kShownBefore) before.remove_prefix(before.size() - kShownBefore);
  while (!before.empty() && (before.front() & 0xc0) == 0x80) before.remove_prefix(1);
  std::size_t length = 1;  // of one character
  while (length < from.size() && (from[length] & 0xc0) == 0x80) ++length;
  from = from.substr(0, length);
  if (!utf8_is_valid(from)) from = from.substr(0, 1);
  return place_of(text, finding.read) + ", behind " + quoted_piece(before) + ": " +
         quoted_piece(from) + "; " + expectation(finding.possible);
}

constexpr std::string_view kOrderHint =
    "its keys come in another order than the schema declares them; with --order any it is accepted";

std::string walk_text(std::string_view name, const TokenWalk& walk) {
  std::string text(name);
  if (!walk.possible) return text + " not possible";
  text += walk.accepted ? " yes, " : " no, ";
  text += counted(walk.tokens, "token");
  if (!walk.accepted) text += " of which the first " + std::to_string(walk.read) + " may come";
  return text;
}

std::string ways_text(const TextFinding& finding) {
  std::string text = std::string("byte by byte ") + (finding.accepted ? "yes" : "no");
  if (finding.canonical) {
    text += "; token by token: " + walk_text("the model's own", *finding.canonical) + ", " +
            walk_text("longest first", *finding.greedy);
  }
  return text;
}

bool wrong(const ExpectedText& wanted, const TextFinding& finding) {
  return wanted.wanted == Wanted::kReject ? !finding.rejected() : !finding.accepted_always();
}

json::object cost_json(const ConstraintCost& cost) {
  json::object object;
  object["compile_ms"] = to_milliseconds(cost.compile);
  object["first_state_ms"] = to_milliseconds(cost.first_state);
  if (cost.nodes > 0) {
    object["form_nodes"] = cost.nodes;
    object["form_bytes"] = cost.form_bytes;
  }
  object["machine_bytes"] = cost.first_bytes;
  if (cost.first_tokens > 0) {
    object["first_mask_ms"] = to_milliseconds(cost.first_mask);
    object["first_tokens"] = cost.first_tokens;
  }
  object["shortest_bytes"] = cost.shortest.size();
  if (cost.shortest.size() <= kShownBytes) {
    object["shortest"] = utf8_replace_invalid(cost.shortest);
  }
  return object;
}

void add_wrong_text(const ExpectedText& wanted, const TextFinding& finding, json::object& object) {
  object["text"] = utf8_replace_invalid(wanted.text);
  object["expected"] = wanted.wanted == Wanted::kAccept ? "accept" : "reject";
  if (finding.order_alone) object["accepted_in_any_order"] = true;
  object["accepted_bytes"] = finding.accepted;
  object["read_bytes"] = finding.read;
  if (finding.canonical) {
    object["accepted_tokens"] = finding.canonical->accepted;
    object["accepted_greedy_tokens"] = finding.greedy->accepted;
  }
}

std::string refusal_line(const SchemaRefusal& refusal) {
  std::string line = refusal.pointer.empty() ? "at the root" : refusal.pointer;
  if (!refusal.keyword.empty()) line += ": " + refusal.keyword;
  return line + ": " + refusal.reason;
}

}  // namespace

std::string case_json(const CheckCase& wanted, const CaseFinding& finding) {
  json::object object;
  object["id"] = utf8_replace_invalid(finding.id);
  object["verdict"] = verdict_name(finding.verdict);
  object["pointer"] = nullptr;
  object["keyword"] = nullptr;
  if (const auto& refusal = finding.refusal) {
    object["pointer"] = utf8_replace_invalid(refusal->pointer);
    object["keyword"] = utf8_replace_invalid(refusal->keyword);
    object["kind"] = refusal_kind_name(refusal->kind);
    object["reason"] = utf8_replace_invalid(refusal->reason);
  }
  if (!finding.fault.empty()) object["reason"] = utf8_replace_invalid(finding.fault);
  for (std::size_t i = 0; i < finding.texts.size(); ++i) {
    if (!wrong(wanted.texts[i], finding.texts[i])) continue;
    add_wrong_text(wanted.texts[i], finding.texts[i], object);
    break;
  }
  if (finding.cost) object["cost"] = cost_json(*finding.cost);
  return json::serialize(object) + "\n";
}

std::string case_text(const CheckCase& wanted, const CaseFinding& finding) {
  std::string out(verdict_name(finding.verdict));
  out.resize(9, ' ');
  out += utf8_replace_invalid(finding.id);
  if (finding.refusal) out += "  " + refusal_line(*finding.refusal);
  if (!finding.fault.empty()) out += "  " + finding.fault;
  out.push_back('\n');
  for (std::size_t i = 0; i < finding.texts.size(); ++i) {
    const ExpectedText& each = wanted.texts[i];
    if (!wrong(each, finding.texts[i])) continue;
    const bool accept = each.wanted == Wanted::kAccept;
    out += std::string("    should be ") + (accept ? "accepted: " : "rejected: ") +
           shown(each.text) + "\n      " + ways_text(finding.texts[i]) + "\n";
    if (accept && !finding.texts[i].accepted) {
      out += "      " + obstacle(each.text, finding.texts[i]) + "\n";
      if (finding.texts[i].order_alone) out += "      " + std::string(kOrderHint) + "\n";
    }
  }
  return out;
}

std::string constraint_text(const CaseFinding& finding) {
  if (finding.refusal) {
    const SchemaRefusal& refusal = *finding.refusal;
    std::string out = "refused: " + finding.id + "\n";
    out += "  pointer   " + (refusal.pointer.empty() ? "(the root)" : refusal.pointer) + "\n";
    if (!refusal.keyword.empty()) out += "  keyword   " + refusal.keyword + "\n";
    out += "  reason    " + refusal.reason + "\n";
    return out + "  " + std::string(advice(refusal.kind)) + "\n";
  }
  std::string out = "compiled: " + finding.id + "\n";
  const ConstraintCost& cost = *finding.cost;
  out += "  compile      " + milliseconds(cost.compile);
  if (cost.nodes > 0) {
    out += ", " + counted(cost.nodes, "form node") + ", " + counted(cost.form_bytes, "byte");
  }
  out += "\n  first state  " + milliseconds(cost.first_state) + ", " +
         counted(cost.first_bytes, "byte") + ", may begin with: " + shown_bytes(cost.begins) + "\n";
  if (cost.first_tokens > 0) {
    out += "  first mask   " + milliseconds(cost.first_mask) + ", " +
           counted(cost.first_tokens, "token") + "\n";
  }
  return out + "  shortest     " + shown(cost.shortest) + "\n";
}

std::string finding_text(const std::string& name, std::string_view text,
                         const TextFinding& finding) {
  const bool accepted = finding.accepted_always();
  std::string out = std::string(accepted ? "accepted: " : "rejected: ") + name + "\n  " +
                    ways_text(finding) + "\n";
  if (!finding.accepted) out += "  " + obstacle(text, finding) + "\n";
  if (finding.order_alone) out += "  " + std::string(kOrderHint) + "\n";
  return out;
}

void CheckTally::add(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::kRight: ++right; return;
    case CheckVerdict::kOver: ++over; return;
    case CheckVerdict::kUnder: ++under; return;
    case CheckVerdict::kRefused: ++refused; return;
    case CheckVerdict::kError: ++error; return;
  }
}

std::string tally_text(const CheckTally& tally) {
  return counted(tally.all(), "case") + ": " + std::to_string(tally.right) + " right, " +
         std::to_string(tally.over) + " over, " + std::to_string(tally.under) + " under, " +
         std::to_string(tally.refused) + " refused, " + std::to_string(tally.error) + " error\n";
}

}  // namespace zerohop
