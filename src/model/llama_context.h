// ModelContext over libllama: the KV cells and the decode call. One owner thread.
//
// What it adds to the library:
//  - Every call is checked first, because the library answers a broken rule with an assertion that
//    ends the process, or not at all. A broken rule is a bug of the caller: ZH_CHECK.
//  - The two layouts look alike. In the stream layout a copy between sequences goes through the
//    state calls: the library's own copy moves the whole stream (8,192 cells of the default model:
//    190 MB) and does so later, inside the next decode, when the source may have changed.
//  - Sliding windows: a cut whose window is incomplete is refused (llama_context_plan.h). With
//    ContextOptions::full_window_cache = false only whole sequences can be saved, copied, restored.
//  - Ranges of a sequence can be saved and restored (unified layout, models without windows).
//  - Saved states carry a checksum and a fingerprint, because the library trusts what it reads.
//  - scan() knows how far attention looks (cell_mirror.h).
//  - Cuts and copies that leave a hole, or a recurrent state at the wrong place, are refused.
//  - Models that compute every text anew (the BERT family) have no cells. Their contexts, for
//    embeddings only, hold no positions after a decode: every text comes whole, in one batch.
//  - A decode allocates nothing here; the library allocates for itself.
//
// Numbers that the library rounds: cells are padded to multiples of 256, per stream in the stream
// layout. capabilities() reports what is there afterwards; slot_cells of the unified layout is the
// window that was asked for.
#pragma once

#include <cstdint>
#include <memory>

#include "core/error.h"
#include "model/model.h"

struct llama_model;

namespace zerohop {

/// The model as a context needs it. It must outlive the context and be loaded with weights.
struct LlamaContextModel {
  llama_model* model = nullptr;
  std::uint64_t kv_bytes_per_cell = 0;
  bool cells_on_host = true;      ///< check the size of the pool against the machine's memory
  std::uint64_t fingerprint = 0;  ///< goes into state_fingerprint()
};

/// Errors: kConfiguration, with the reason of the library where it gave one.
Result<std::unique_ptr<ModelContext>> make_llama_context(const LlamaContextModel& model,
                                                         const ContextOptions& options);

}  // namespace zerohop
