import unittest

from dev.checks.functions import functions


def names(text):
    return [function.name for function in functions(text)]


class Functions(unittest.TestCase):
    def test_counts_from_the_declaration_to_the_closing_brace(self):
        found, = functions("namespace a {\n\nint f(int x,\n      int y) {\n  return x;\n}\n\n}\n")
        self.assertEqual((found.name, found.line, found.lines), ("f", 3, 4))

    def test_sees_members_operators_and_destructors(self):
        text = """struct A {
          ~A() { x(); }
          bool operator()(int a) const { return a; }
          bool operator==(const A& o) const { return true; }
          void set(int v) noexcept override { v_ = v; }
        };
        A::A() = default;
        void A::other() {}"""
        self.assertEqual(names(text), ["~A", "operator()", "operator==", "set", "A::other"])

    def test_blocks_and_lambdas_belong_to_their_function(self):
        text = """void f() {
          if (a) {
            auto g = [](int b) { return b; };
          }
        }
        void h() {}"""
        self.assertEqual(names(text), ["f", "h"])

    def test_member_initialisers_are_no_functions(self):
        found = functions("""A::A(int x)
            : a_{x},
              b_{x} {
          f();
        }
        int g() { return 1; }""")
        self.assertEqual([f.name for f in found], ["A::A", "g"])
        self.assertEqual(found[0].lines, 5)

    def test_types_tables_and_namespaces_are_no_functions(self):
        text = """namespace { enum class E { kA, kB };
        constexpr int kTable[] = {1, 2};
        const std::array<S, 2> kOther = {{ {f(1)}, {f(2)} }};
        struct S : T { int x{}; }; }"""
        self.assertEqual(names(text), [])

    def test_names_a_test_by_suite_and_case(self):
        self.assertEqual(names("TEST(Queue, RefusesWhenFull) {\n  x();\n}\n"),
                         ["Queue.RefusesWhenFull"])

    def test_braces_in_macros_and_literals_do_not_count(self):
        text = '#define OPEN {\n#define TWO \\\n  {\nvoid f() { g("{"); }\nvoid h() {}\n'
        self.assertEqual(names(text), ["f", "h"])


if __name__ == "__main__":
    unittest.main()
