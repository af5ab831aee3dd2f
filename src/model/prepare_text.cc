#include "model/prepare_text.h"

namespace zerohop {
namespace {

constexpr std::string_view kText =
    "A computer that answers questions spends most of its time on moving numbers. The weights of a "
    "language model lie in memory, and for every word that it writes, nearly all of them have to "
    "travel to the processor once. If the weights take one hundred megabytes and the memory "
    "delivers ten gigabytes in a second, then no program, however clever, can write more than one "
    "hundred words in that time for a single reader. This is why people store weights with few "
    "bits: a number that takes four bits travels eight times as fast as one that takes thirty-two, "
    "and most models hardly notice the difference.\n\n"
    "There are several ways to make numbers small. The simplest cuts a row of weights into blocks "
    "of thirty-two, looks for the largest value in each block, and writes down one scale for the "
    "block and a small whole number for each weight. To read a weight, multiply the whole number "
    "by the scale. A second way also stores the smallest value, so that blocks whose weights are "
    "all positive waste nothing. The price is an extra addition for every block, and the processor "
    "may have no instruction that does it at once. So the format that loses least is not always "
    "the format that runs fastest, and which one wins depends on the machine: on its vector "
    "instructions, on the size of its caches, and on how many requests are computed together.\n\n"
    "Consider what happens when eight people ask at the same time. The weights still travel once, "
    "but now each of them is used eight times. The memory is no longer the narrow place; the "
    "arithmetic is. A format that can be multiplied without being unpacked first becomes valuable, "
    "even if it takes twice the space. The same is true while a long prompt is read, because all "
    "of its words are known in advance and can be computed side by side. An operator who serves "
    "one patient reader should therefore choose differently from one who serves a crowd, and "
    "neither should trust a table that was measured on somebody else's hardware. It takes only a "
    "few seconds to measure the real thing.\n\n"
    "Speed alone is easy to get: a model that always answers with the same word is very fast. What "
    "matters is that the answers stay the same. One could compare texts, but a single different "
    "word early in an answer changes everything behind it, although both answers may be equally "
    "good. It is better to compare probabilities. At each place in a given text the original model "
    "assigns a probability to every word that could come next, and so does the converted one. The "
    "divergence between the two says how much information is lost when the copy stands in for the "
    "original. A value of zero means that nobody could tell them apart. A value of one hundredth "
    "of a nat is less than what the order of additions does in some programs. A value near one "
    "half means that the copy has become a different model, which may still be useful, but which "
    "nobody should receive without having asked for it.\n\n"
    "A careful program keeps what it has measured. It writes the converted file under a temporary "
    "name, tells the operating system to put every byte on the disk, and only then gives the file "
    "its proper name; if the power fails in between, the next start finds either nothing or a "
    "complete file, never one half of it. Beside the file it notes which source it was made from, "
    "which processor and which library took part, and how many threads were running. When any of "
    "these changes, the note no longer applies and the measurement is repeated. When the disk is "
    "full or the folder cannot be written, the program says so and serves the original, because an "
    "answer that comes a little later is better than no answer. Two copies of the program that "
    "start together must not work against each other either: one of them takes a lock, the other "
    "waits for a while and then uses what the first one has made.\n\n"
    "The rules for testing such a program follow from its promises. Fill the disk and see that no "
    "fragment remains. Change one byte in the stored file and see that it is noticed. Start it "
    "twice and count how often it measures. Convert a model into the format that it already has "
    "and check that the divergence is exactly zero. Each of these tests is short, and each has "
    "found a mistake in a program whose author was certain that there was none.";

}  // namespace

std::string_view preparation_text() { return kText; }

}  // namespace zerohop
