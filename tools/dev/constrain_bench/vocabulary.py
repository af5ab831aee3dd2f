"""Vocabularies as files of token bytes, the same for every engine that is measured.

The format is described in bench/constrain/vocabulary_file.h.
"""
import base64
import re
from dataclasses import dataclass

from dev.common import Failure, cache_dir, locked, put_in_place, scratch
from dev.sources import NpmPackage, unpack

MAGIC = "zerohop-vocabulary"

# The vocabulary of Llama 3, as a JavaScript file.
LLAMA3 = NpmPackage(
    "llama3-tokenizer-js", "1.2.0",
    "sha512-oMgIgK958UlvoEm3Lz/gAj3QAKpnAMb6YqlY0aTYraSK/c+V3TF3P7IWFQJe4yjM60+2/KoK+EWziec6WQ57/g==")
LLAMA3_DATA = "package/src/data-converted.js"
LLAMA3_WIDTH = 128256           # 128,000 words and 256 special tokens
LLAMA3_ENDS = [128001, 128009]  # <|end_of_text|>, <|eot_id|>


@dataclass(frozen=True)
class Vocabulary:
    tokens: list  # bytes of each token; empty: special
    ends: list    # tokens that end a text
    width: int    # of the logits


def encode(vocabulary):
    """The file's bytes."""
    head = f"{MAGIC} {vocabulary.width} {len(vocabulary.tokens)} " \
           f"{','.join(str(token) for token in vocabulary.ends)}\n"
    words = [len(word).to_bytes(2, "little") + word for word in vocabulary.tokens]
    return head.encode() + b"".join(words)


def decode(data):
    head, _, rest = data.partition(b"\n")
    magic, width, count, ends = head.decode().split(" ")
    if magic != MAGIC:
        raise Failure("this is no vocabulary file")
    tokens = []
    at = 0
    for _ in range(int(count)):
        size = int.from_bytes(rest[at:at + 2], "little")
        tokens.append(rest[at + 2:at + 2 + size])
        at += 2 + size
    return Vocabulary(tokens, [int(token) for token in ends.split(",") if token], int(width))


def byte_of_letter():
    """How byte-level vocabularies spell bytes: printable ones as they are, others moved up."""
    plain = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    letters = {chr(byte): byte for byte in plain}
    moved = (byte for byte in range(256) if byte not in plain)
    letters.update({chr(256 + number): byte for number, byte in enumerate(moved)})
    return letters


def from_javascript(text):
    """The vocabulary in the data file of llama3-tokenizer-js."""
    found = re.search(r'llama_vocab_base64 = "([^"]+)"', text)
    if not found:
        raise Failure(f"{LLAMA3.name} {LLAMA3.version} has no vocabulary where one was expected")
    letters = byte_of_letter()
    words = base64.b64decode(found.group(1)).decode().split("\n")
    return Vocabulary([bytes(letters[letter] for letter in word) for word in words],
                      LLAMA3_ENDS, LLAMA3_WIDTH)


def llama3(sources):
    """The path of the file with the vocabulary of Llama 3, made when it is not there."""
    target = cache_dir() / "vocabularies" / f"llama3-{LLAMA3.version}" / "tokens"
    if target.exists():
        return target
    with locked(cache_dir() / "vocabularies.lock"):
        if not target.exists():
            with scratch(cache_dir()) as temporary:
                out = temporary / "out"
                out.mkdir()
                unpack(sources.npm(LLAMA3, temporary), temporary / "package")
                text = (temporary / "package" / LLAMA3_DATA).read_text(encoding="utf-8")
                (out / "tokens").write_bytes(encode(from_javascript(text)))
                target.parent.parent.mkdir(parents=True, exist_ok=True)
                put_in_place(out, target.parent)
    return target


class Cutter:
    """Cuts texts into tokens, the longest one first: the same for every engine."""

    def __init__(self, vocabulary):
        self.numbers = {}
        for number, word in enumerate(vocabulary.tokens):
            if word and number not in vocabulary.ends:
                self.numbers.setdefault(word, number)
        self.longest = max(map(len, self.numbers))

    def cut(self, text):
        """Tokens of `text` (str); nothing when a byte has no token."""
        data = text.encode()
        tokens = []
        at = 0
        while at < len(data):
            for size in range(min(self.longest, len(data) - at), 0, -1):
                number = self.numbers.get(data[at:at + size])
                if number is not None:
                    break
            else:
                return None
            tokens.append(number)
            at += size
        return tokens
