#include "model/state_layout.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace zerohop {
namespace {

constexpr std::uint32_t kSequenceMagic = 0xaf143cd8;
constexpr std::uint32_t kIdsMax = 256;
constexpr std::uint32_t kLayersMax = 4096;
constexpr std::uint64_t kRowBytesMax = std::uint64_t{1} << 28;
constexpr std::int32_t kTypesMax = 64;  // of ggml_type
constexpr std::int32_t kTypeF16 = 1;
constexpr std::uint32_t kF16Bytes = 2;
constexpr std::size_t kCellExtensionBytes = 12;

// The places where the layout depends on the model, and nothing in the bytes says so.
struct Variant {
  bool cell_extension = false;
  bool has_values = true;
};

class Parser {
 public:
  Parser(std::span<const std::byte> state, Variant variant) : state_(state), variant_(variant) {}

  bool parse() {
    std::uint32_t magic = 0;
    std::int32_t id = 0;
    if (!read(magic) || magic != kSequenceMagic || !read(id)) return false;
    for (int cache = 0; cache < 2; ++cache) {
      const Mark mark = here();
      if (parse_cache(cache == 0)) {
        if (done()) return finish();
        continue;
      }
      go_back(mark);
      break;
    }
    return parse_running_state() && done() && finish();
  }

  StateLayout take() { return std::move(layout_); }

 private:
  struct Mark {
    std::size_t at;
    std::size_t plain_from;
    std::size_t part_from;
    std::size_t runs;
    std::size_t parts;
    std::size_t positions;
  };

  Mark here() const {
    return {at_,
            plain_from_,
            part_from_,
            layout_.runs.size(),
            layout_.parts.size(),
            layout_.positions.size()};
  }
  void go_back(const Mark& mark) {
    at_ = mark.at;
    plain_from_ = mark.plain_from;
    part_from_ = mark.part_from;
    layout_.runs.resize(mark.runs);
    layout_.parts.resize(mark.parts);
    layout_.positions.resize(mark.positions);
  }
  bool done() const { return at_ == state_.size(); }

  template <class Number>
  bool read(Number& value) {
    if (state_.size() - at_ < sizeof value) return false;
    std::memcpy(&value, state_.data() + at_, sizeof value);
    at_ += sizeof value;
    return true;
  }

  // What was read since the last part is plain; the next `bytes` are a part of their own.
  void add_part(StatePartKind kind, std::uint64_t bytes, std::uint64_t unit_bytes) {
    end_plain_part();
    layout_.parts.push_back({kind, windowed_, static_cast<std::uint32_t>(unit_bytes), bytes});
    part_from_ = at_ + static_cast<std::size_t>(bytes);
  }

  void end_plain_part() {
    if (at_ <= part_from_) return;
    layout_.parts.push_back({StatePartKind::kPlain, windowed_, 0, at_ - part_from_});
    part_from_ = at_;
  }

  // `count` rows of `row_bytes`; both are below 2^32, so the product cannot overflow.
  bool skip_rows(std::uint64_t count, std::uint64_t row_bytes, std::int32_t type) {
    if (row_bytes == 0 || row_bytes > kRowBytesMax) return false;
    const std::uint64_t bytes = count * row_bytes;
    if (bytes > state_.size() - at_) return false;
    if (type == kTypeF16 && row_bytes % kF16Bytes == 0) {
      layout_.runs.push_back({at_ - plain_from_, bytes / kF16Bytes});
      plain_from_ = at_ + static_cast<std::size_t>(bytes);
    }
    at_ += static_cast<std::size_t>(bytes);
    return true;
  }

  bool finish() {
    if (at_ > plain_from_) layout_.runs.push_back({at_ - plain_from_, 0});
    end_plain_part();
    return true;
  }

  bool read_type(std::int32_t& type) { return read(type) && type >= 0 && type < kTypesMax; }

  bool parse_cache(bool first) {
    windowed_ = !first;
    std::uint32_t streams = 0;
    if (!read(streams) || streams == 0 || streams > kIdsMax) return false;
    bool found = false;
    for (std::uint32_t stream = 0; stream < streams; ++stream) {
      std::uint32_t cells = 0;
      const std::size_t count_at = at_;
      if (!read(cells)) return false;
      if (cells == 0) continue;
      at_ = count_at;
      add_part(StatePartKind::kCount, sizeof cells, sizeof cells);
      at_ += sizeof cells;
      if (found || !parse_cells(cells, first) || !parse_layers(cells)) return false;
      found = true;
    }
    return true;
  }

  bool parse_cells(std::uint32_t cells, bool first) {
    const std::size_t cell_bytes = 12 + (variant_.cell_extension ? kCellExtensionBytes : 0);
    if (cells > (state_.size() - at_) / cell_bytes) return false;
    add_part(StatePartKind::kCells, cells * cell_bytes, cell_bytes);
    for (std::uint32_t cell = 0; cell < cells; ++cell) {
      std::int32_t position = 0;
      std::uint32_t ids = 0;
      std::int32_t id = 0;
      if (!read(position) || !read(ids) || position < 0 || ids != 1) return false;
      if (variant_.cell_extension) at_ += kCellExtensionBytes;
      if (!read(id) || id < 0 || id >= static_cast<std::int32_t>(kIdsMax)) return false;
      if (first) layout_.positions.push_back(position);
    }
    return true;
  }

  bool parse_layers(std::uint32_t cells) {
    std::uint32_t transposed = 0;
    std::uint32_t layers = 0;
    if (!read(transposed) || transposed > 1) return false;
    if (!read(layers) || layers > kLayersMax) return false;  // 0: all layers have a window
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
      if (!parse_rows(cells)) return false;
    }
    if (!variant_.has_values) return true;
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
      if (transposed == 1 ? !parse_columns(cells) : !parse_rows(cells)) return false;
    }
    return true;
  }

  bool parse_rows(std::uint32_t cells) {
    std::int32_t type = 0;
    std::uint64_t row_bytes = 0;
    if (!read_type(type) || !read(row_bytes) || row_bytes > kRowBytesMax) return false;
    add_part(StatePartKind::kRows, cells * row_bytes, row_bytes);
    return skip_rows(cells, row_bytes, type);
  }

  bool parse_columns(std::uint32_t cells) {
    std::int32_t type = 0;
    std::uint32_t number_bytes = 0;
    std::uint32_t rows = 0;
    if (!read_type(type) || !read(number_bytes) || !read(rows)) return false;
    if (number_bytes == 0 || number_bytes > 16 || rows == 0) return false;
    const std::uint64_t row_bytes = std::uint64_t{rows} * number_bytes;
    add_part(StatePartKind::kColumns, cells * row_bytes, number_bytes);
    return skip_rows(cells, row_bytes, type);
  }

  // Its numbers are F32, and a sum of many: they stay as they are.
  bool parse_running_state() {
    std::uint32_t cells = 0;
    if (!read(cells) || cells > kIdsMax) return false;
    for (std::uint32_t cell = 0; cell < cells; ++cell) {
      std::int32_t position = 0;
      std::uint32_t ids = 0;
      if (!read(position) || !read(ids) || ids != 0) return false;
    }
    std::uint32_t transposed = 0;
    std::uint32_t layers = 0;
    if (!read(transposed) || transposed != 0) return false;
    if (!read(layers) || layers == 0 || layers > kLayersMax) return false;
    for (std::uint32_t entry = 0; entry < 2 * layers && !done(); ++entry) {
      std::int32_t type = 0;
      std::uint64_t row_bytes = 0;
      if (!read_type(type) || !read(row_bytes)) return false;
      if (!skip_rows(cells, row_bytes, kTypesMax)) return false;
    }
    layout_.has_running_state = true;
    return true;
  }

  const std::span<const std::byte> state_;
  const Variant variant_;
  std::size_t at_ = 0;
  std::size_t plain_from_ = 0;  // bytes from here to at_ are in no run yet
  std::size_t part_from_ = 0;   // likewise, in no part
  bool windowed_ = false;       // the second cache
  StateLayout layout_;
};

void repeat(std::span<const std::byte> unit, std::uint32_t times, std::vector<std::byte>& to) {
  for (std::uint32_t i = 0; i < times; ++i) to.insert(to.end(), unit.begin(), unit.end());
}

}  // namespace

std::optional<StateLayout> parse_state(std::span<const std::byte> state) {
  constexpr std::array kVariants{Variant{false, true}, Variant{true, true}, Variant{false, false},
                                 Variant{true, false}};
  for (const Variant& variant : kVariants) {
    Parser parser(state, variant);
    if (parser.parse()) return parser.take();
  }
  return std::nullopt;
}

std::vector<std::byte> stretch_state(std::span<const std::byte> one, StretchTo to) {
  const std::optional<StateLayout> layout = parse_state(one);
  if (!layout || layout->positions.size() != 1 || layout->has_running_state) return {};
  std::vector<std::byte> many;
  many.reserve(one.size() * to.cells);
  for (const StatePart& part : layout->parts) {
    const auto bytes = one.first(static_cast<std::size_t>(part.bytes));
    one = one.subspan(bytes.size());
    const std::uint32_t cells = part.windowed ? std::min(to.cells, to.window_cells) : to.cells;
    switch (part.kind) {
      case StatePartKind::kPlain: many.insert(many.end(), bytes.begin(), bytes.end()); break;
      case StatePartKind::kCount: {
        const auto count = std::as_bytes(std::span(&cells, 1));
        many.insert(many.end(), count.begin(), count.end());
        break;
      }
      case StatePartKind::kCells:
        for (std::uint32_t cell = 0; cell < cells; ++cell) {
          const std::uint32_t position = to.cells - cells + cell;
          many.insert(many.end(), bytes.begin(), bytes.end());
          std::memcpy(many.data() + many.size() - bytes.size(), &position, sizeof position);
        }
        break;
      case StatePartKind::kRows: repeat(bytes, cells, many); break;
      case StatePartKind::kColumns:
        for (std::size_t at = 0; at < bytes.size(); at += part.unit_bytes) {
          repeat(bytes.subspan(at, part.unit_bytes), cells, many);
        }
        break;
    }
  }
  return many;
}

bool holds_exactly(const StateLayout& layout, PositionRange range) {
  if (layout.positions.size() != static_cast<std::size_t>(std::max(range.size(), 0))) return false;
  std::vector<bool> seen(layout.positions.size());
  for (const std::int32_t position : layout.positions) {
    if (position < range.begin || position >= range.end) return false;
    const auto index = static_cast<std::size_t>(position - range.begin);
    if (seen[index]) return false;
    seen[index] = true;
  }
  return true;
}

}  // namespace zerohop
