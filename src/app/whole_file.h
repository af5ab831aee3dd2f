// Small files that programs leave for one another. Written, a file appears whole or not at all:
// beside its place first, then renamed.
//
//   layout-17.json.4711.part     4711 is the process, so that two of them do not write into one
//   layout-17.json               replaced if it is there
//
// Any thread; two threads of a process must not write the same file at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace zerohop {

/// Whether the bytes are on the disk before the file gets its name, so that a power cut cannot
/// leave a short one. Its name is safe only after sync_to_disk() of the folder (base/file_sync.h).
enum class Durable : std::uint8_t { kNo, kYes };

/// Writes `parts` one behind the other. The folder must be there. On any fault `file` is as it was
/// and nothing is left beside it; the system's reason is returned.
std::error_code write_whole(const std::filesystem::path& file,
                            std::initializer_list<std::string_view> parts, Durable durable);

/// All of a file; nothing when it cannot be read (a folder, say) or has more than `bytes_max`.
std::optional<std::string> read_whole(const std::filesystem::path& file, std::uintmax_t bytes_max);

}  // namespace zerohop
