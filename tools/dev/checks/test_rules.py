import unittest

from dev.checks import banned, layers, sizes, texts

RANKS = "# ranks\n0 base\n1 core\n3 api\n3 http\n3 model\n4 engine: model\n5 app\n"


def layer_faults(path, include):
    files = {path: f'#include "{include}"\n', f"src/{include}": ""}
    return [finding.message for finding in layers.check(files, RANKS) if finding.path == path]


class Layers(unittest.TestCase):
    def test_lower_ranks_and_the_own_folder_are_free(self):
        self.assertEqual(layer_faults("src/api/a.cc", "base/b.h"), [])
        self.assertEqual(layer_faults("src/api/a.cc", "api/b.h"), [])
        self.assertEqual(layer_faults("src/engine/a.cc", "model/b.h"), [])
        self.assertEqual(layer_faults("src/app/a.cc", "http/b.h"), [])

    def test_the_same_and_higher_ranks_are_refused(self):
        self.assertIn("only lower ranks", layer_faults("src/api/a.cc", "http/b.h")[0])
        self.assertIn("only lower ranks", layer_faults("src/base/a.h", "core/b.h")[0])
        self.assertIn("only lower ranks", layer_faults("src/engine/a_test.cc", "app/b.h")[0])

    def test_a_narrowed_folder_may_use_only_what_is_named(self):
        self.assertIn("only model", layer_faults("src/engine/a.cc", "http/b.h")[0])

    def test_unknown_folders_and_missing_files_are_found(self):
        self.assertIn("does not know", layer_faults("src/api/a.cc", "other/b.h")[0])
        found = layers.check({"src/api/a.cc": '#include "base/gone.h"\n'}, RANKS)
        self.assertIn("there is no", found[0].message)
        self.assertEqual(len(layers.check({"src/lost/a.cc": ""}, RANKS)), 1)

    def test_a_header_of_the_folder_is_named_from_src_on(self):
        files = {"src/api/a.cc": '#include "b.h"\n', "src/api/b.h": ""}
        self.assertIn('"api/b.h"', layers.check(files, RANKS)[0].message)
        self.assertEqual(layers.check({"src/api/a.cc": '#include "outside.h"\n'}, RANKS), [])


def calls(code, path="src/engine/a.cc"):
    return [finding.message.split(":")[0] for finding in banned.check({path: code})]


class Banned(unittest.TestCase):
    def test_clocks_belong_to_one_file(self):
        code = "auto t = std::chrono::steady_clock::now();\n"
        self.assertEqual(len(calls(code)), 1)
        self.assertEqual(len(calls(code, "src/engine/a_test.cc")), 1)
        self.assertEqual(calls(code, "src/base/clock.cc"), [])
        self.assertEqual(len(calls("auto t = std::time(nullptr); auto u = time(NULL);")), 2)
        self.assertEqual(calls("auto t = clock.now(); time_point time(a); x.time(0);"), [])

    def test_chance_belongs_to_one_file(self):
        self.assertEqual(len(calls("std::random_device d; int a = rand();")), 2)
        self.assertEqual(calls("operand(1); random.next();"), [])
        self.assertEqual(calls("std::random_device d;", "src/base/random.cc"), [])

    def test_threads_are_made_in_few_places(self):
        self.assertEqual(len(calls("std::jthread t(f); std::thread u;")), 2)
        self.assertEqual(calls("std::thread::id a; std::this_thread::get_id();"), [])
        self.assertEqual(calls("std::jthread t;", "src/engine/engine_thread.h"), [])
        self.assertEqual(calls("std::thread t(f);", "src/base/queue_test.cc"), [])

    def test_nothing_sleeps_not_even_tests(self):
        self.assertEqual(len(calls("std::this_thread::sleep_for(1s);", "src/a/a_test.cc")), 1)
        self.assertEqual(calls("engine.sleep(1); go_to_sleep(2);"), [])

    def test_printing_is_for_the_program(self):
        code = 'std::cout << 1; printf("a"); std::fprintf(stderr, "b");'
        self.assertEqual(len(calls(code)), 3)
        self.assertEqual(calls(code, "src/app/main.cc"), [])
        self.assertEqual(calls("std::snprintf(a, 1, b); my_printf(c);"), [])

    def test_temporaries_are_named_before_they_are_awaited(self):
        self.assertEqual(len(calls("co_await x.respond(Error{kA, b});")), 1)
        self.assertEqual(len(calls("auto a = co_await run(pool, [body = take()] { f(); });")), 1)
        self.assertEqual(calls("co_await x.respond(std::move(error)); Error e{kA};"), [])
        self.assertEqual(calls("co_await init([&](auto h) { g(); });"), [])

    def test_exceptions_are_not_thrown(self):
        self.assertEqual(len(calls("throw std::runtime_error(a);")), 1)
        self.assertEqual(calls("// throw\nvoid f(); rethrow(a);"), [])

    def test_words_in_comments_and_literals_are_free(self):
        self.assertEqual(calls('// std::cout\nf("rand() sleep(1)");'), [])

    def test_the_model_library_stays_in_its_folder(self):
        self.assertEqual(len(calls('#include "llama.h"\n#include <ggml-cpu.h>\n')), 2)
        self.assertEqual(calls('#include "chat.h"\n', "src/model/a.cc"), [])
        self.assertEqual(calls('#include "base/common.h"\n'), [])

    def test_json_stays_at_the_edge(self):
        self.assertEqual(len(calls("#include <boost/json.hpp>\n")), 1)
        self.assertEqual(calls("#include <boost/json/value.hpp>\n", "src/api/a_test.cc"), [])


class Sizes(unittest.TestCase):
    LONG = "void f() {\n" + "  a();\n" * 80 + "}\n"

    def test_long_functions_and_files_are_found(self):
        found = sizes.check({"src/a/a.cc": self.LONG}, {})
        self.assertIn("src/a/a.cc:f has 82 lines", found[0].message)
        self.assertEqual(len(sizes.check({"a.py": "x\n" * 501}, {})), 1)
        self.assertEqual(sizes.check({"a.py": "x\n" * 500}, {}), [])

    def test_a_listed_length_is_tolerated_but_never_grows_and_is_lowered(self):
        files = {"src/a/a.cc": self.LONG}
        self.assertEqual(sizes.check(files, {"src/a/a.cc:f": 82}), [])
        self.assertIn("at most 81", sizes.check(files, {"src/a/a.cc:f": 81})[0].message)
        self.assertIn("lower", sizes.check(files, {"src/a/a.cc:f": 90})[0].message)

    def test_an_entry_that_is_not_needed_must_go(self):
        self.assertIn("remove", sizes.check({"src/a/a.cc": ""}, {"src/a/a.cc:f": 90})[0].message)

    def test_the_ratchet_file_is_read(self):
        self.assertEqual(sizes.read_ratchet("# c\n\na.cc:A::f 80\n"), {"a.cc:A::f": 80})


def found(path, text):
    return [finding.message for finding in texts.check({path: text})]


class Texts(unittest.TestCase):
    def test_lines_have_a_width(self):
        self.assertEqual(len(found("a.py", "x" * 101)), 1)
        self.assertEqual(found("a.py", "x" * 100), [])
        self.assertEqual(found("a.py", "é→" * 50), [])
        self.assertEqual(len(found("a.py", "中" * 51)), 1)
        self.assertEqual(found("a.md", "# T\n" + "x" * 300), [])

    def test_unfinished_work_and_hosts_are_found(self):
        self.assertEqual(len(found("a.py", "# TO" "DO later")), 1)
        self.assertEqual(len(found("a.sh", "curl https://py" "pi.org/simple")), 1)
        self.assertEqual(found("a.py", "todo_list = methodTODOs"), [])

    def test_markdown_has_one_title(self):
        self.assertEqual(found("a.md", "# A\n\n```sh\n# comment\n```\n## B\n"), [])
        self.assertEqual(len(found("a.md", "# A\n# B\n")), 1)
        self.assertEqual(len(found("a.md", "## B\n")), 1)

    def test_headers_have_pragma_once_and_users(self):
        good = {"src/a/a.h": "#pragma once\n", "src/a/a.cc": '#include "a/a.h"\n'}
        self.assertEqual(texts.check(good), [])
        self.assertEqual(len(texts.check({"src/a/a.h": "#pragma once\n"})), 1)
        guard = {"src/a/a.h": "#ifndef A\n", "src/a/a.cc": '#include "a/a.h"\n'}
        self.assertEqual(len(texts.check(guard)), 1)

    def test_big_files_are_found(self):
        self.assertEqual(len(texts.check_bytes({"a": 1_000_001, "b": 1_000_000})), 1)


if __name__ == "__main__":
    unittest.main()
