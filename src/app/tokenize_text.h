// What `zerohop tokenize` prints. Pure; any thread.
#pragma once

#include <string>

#include "app/commands.h"
#include "core/token.h"
#include "core/token_table.h"

namespace zerohop {

/// One line for each token: id, tab, bytes in double quotes (what is not printable as \n, \t or
/// \xHH); or JSON, or the count, as `options` asks. Ends in a line end.
std::string tokenize_output(TokenSpan tokens, const TokenTable& table,
                            const TokenizeOptions& options);

/// The bytes of a token as they are printed, quotes included. Valid UTF-8 stays as it is.
std::string quoted_piece(std::string_view bytes);

}  // namespace zerohop
