// The text on which a converted model is held against its original: English prose about how
// machines compute and store, written for this purpose, so that every start everywhere reads the
// same. Constant; any thread.
#pragma once

#include <string_view>

namespace zerohop {

/// About 4,200 bytes: some 850 tokens in the usual vocabularies.
std::string_view preparation_text();

}  // namespace zerohop
