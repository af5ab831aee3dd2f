import unittest

from dev.checks.cpp_text import blank, includes, without_comments


class Blank(unittest.TestCase):
    def test_keeps_every_offset(self):
        text = 'int a; // "x\n/* } */ int b = \'{\';\n'
        self.assertEqual(len(blank(text)), len(text))
        self.assertEqual(blank(text).count("\n"), 2)

    def test_removes_comments_and_what_stands_in_literals(self):
        self.assertNotIn("{", blank('f("{", \'{\'); // {\n/* { */'))

    def test_sees_the_end_of_a_string_with_escapes(self):
        self.assertIn("g()", blank(r'f("\\"); g(); h("\"g()");'))
        self.assertEqual(blank(r'f("\"g()");').count("g"), 0)

    def test_takes_a_raw_string_as_one_literal(self):
        code = blank('auto a = R"x(" } )" )x"; done();')
        self.assertIn("done()", code)
        self.assertNotIn("}", code)

    def test_does_not_take_a_digit_separator_for_a_literal(self):
        self.assertIn("call(", blank("int a = 1'000; call('x'); int b = 0x1'f;"))

    def test_continues_a_line_comment_after_a_backslash(self):
        self.assertNotIn("hidden", blank("// a \\\n hidden\nint b;"))


class Includes(unittest.TestCase):
    def test_finds_both_kinds_with_lines(self):
        found = list(includes('#include <a>\n\n#  include "b/c.h"\n'))
        self.assertEqual(found, [(1, "a", False), (3, "b/c.h", True)])

    def test_ignores_commented_ones(self):
        self.assertEqual(list(includes('// #include "a/b.h"\n/*\n#include <c>\n*/\n')), [])

    def test_comments_alone_are_removed(self):
        self.assertEqual(without_comments('"//"//x'), '"//"   ')


if __name__ == "__main__":
    unittest.main()
