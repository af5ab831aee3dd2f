#include "vocabulary_file.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "model/llama_model.h"

namespace zerohop::bench {
namespace {

constexpr std::string_view kMagic = "zerohop-vocabulary";

Error broken(const std::string& path) {
  return invalid_request("", path + " is no vocabulary file");
}

}  // namespace

Result<Vocabulary> read_vocabulary(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!std::getline(file, line)) return broken(path);
  std::istringstream head(line);
  std::string magic;
  std::string ends;
  std::size_t count = 0;
  Vocabulary vocabulary;
  head >> magic >> vocabulary.width >> count >> ends;
  if (magic != kMagic || !head || count > vocabulary.width || count > 1u << 24) return broken(path);
  std::istringstream end_words(ends);
  for (std::string word; std::getline(end_words, word, ',');) {
    vocabulary.end_tokens.push_back(static_cast<Token>(std::stol(word)));
  }
  vocabulary.bytes.resize(count);
  for (std::string& bytes : vocabulary.bytes) {
    unsigned char size[2];
    file.read(reinterpret_cast<char*>(size), 2);
    if (!file) return broken(path);
    bytes.resize(size[0] + 256u * size[1]);
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  if (!file) return broken(path);
  return vocabulary;
}

bool write_vocabulary(const Vocabulary& vocabulary, const std::string& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << kMagic << ' ' << vocabulary.width << ' ' << vocabulary.bytes.size() << ' ';
  for (std::size_t i = 0; i < vocabulary.end_tokens.size(); ++i) {
    file << (i == 0 ? "" : ",") << vocabulary.end_tokens[i];
  }
  file << '\n';
  for (const std::string& bytes : vocabulary.bytes) {
    file.put(static_cast<char>(bytes.size() & 255));
    file.put(static_cast<char>(bytes.size() >> 8));
    file << bytes;
  }
  return static_cast<bool>(file.flush());
}

Result<Vocabulary> vocabulary_of_model(const std::string& path) {
  ZH_ASSIGN_OR_RETURN(const std::unique_ptr<Model> model,
                      load_llama_model({.path = path, .load = LlamaLoad::kTokenizerOnly}));
  const TokenTable& table = model->tokenizer().table();
  Vocabulary vocabulary;
  vocabulary.width = table.size();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto token = static_cast<Token>(i);
    const bool end = table.is_end_of_generation(token);
    if (end) vocabulary.end_tokens.push_back(token);
    const bool text = !end && !table.is_control(token);
    vocabulary.bytes.emplace_back(text ? table.bytes(token) : std::string_view());
  }
  return vocabulary;
}

}  // namespace zerohop::bench
