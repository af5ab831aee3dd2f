#include "app/terminal_text.h"

#include <gtest/gtest.h>

namespace zerohop {
namespace {

TEST(TerminalText, KeepsWhatIsShownAndNothingThatActs) {
  EXPECT_EQ(terminal_text("a \xc3\xa9 \xe2\x82\xac\nb"), "a \xc3\xa9 \xe2\x82\xac\nb");
  EXPECT_EQ(terminal_text("\x1b]52;c;x\x07\t\x7f"), "?]52;c;x???");
  EXPECT_EQ(terminal_text("\xc2\x9b"
                          "2J\xc2\xa0"),
            "?2J\xc2\xa0");
  EXPECT_EQ(terminal_text("\xc2"), "\xc2");
}

}  // namespace
}  // namespace zerohop
