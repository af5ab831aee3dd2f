"""docs/TROUBLESHOOTING.md names only what exists, and answers the same questions everywhere."""
import re
import unittest

from support import metric_names
from support.programs import ROOT

TEXT = (ROOT / "docs/TROUBLESHOOTING.md").read_text(encoding="utf-8")
CONFIG = (ROOT / "docs/CONFIG.md").read_text(encoding="utf-8")
CODE = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL))
QUESTIONS = ["Means.", "Users notice.", "Confirm.", "Do."]
METRIC = re.compile(r"(?:zerohop|anthropic_(?:kernel|instance|direct)|cortex)_[a-z0-9_]+")
ANSWERS = {"chat_completion_success_rate", "avg_tokens_per_response", "tool_call_success_rate"}
KEY = re.compile(r"([a-z]+\.[a-z_]+)(?:: .*)?")
FILES = {"thresholds.yml", "prometheus.yml", "memory.max"}


class Troubleshooting(unittest.TestCase):
    def test_every_section_answers_the_four_questions(self):
        sections = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
        self.assertGreater(len(sections), 20)
        for section in sections:
            title = section.partition("\n")[0]
            with self.subTest(section=title):
                self.assertEqual(re.findall(r"^\*\*(.+?)\*\*", section, re.MULTILINE), QUESTIONS)

    def test_every_metric_that_it_names_exists(self):
        known = metric_names.families()
        named = {match.group() for text in CODE for match in METRIC.finditer(text)}
        self.assertGreater(len(named), 30)
        self.assertEqual(named - set(known), set())
        self.assertTrue(ANSWERS <= set(known) and all(name in TEXT for name in ANSWERS))

    def test_every_setting_that_it_names_exists(self):
        keys = set(re.findall(r"^\| `([a-z]+\.[a-z_0-9]+)` \|", CONFIG, re.MULTILINE))
        named = {match[1] for text in CODE if (match := KEY.fullmatch(text))} - FILES
        named -= {name for name in named if name.endswith((".json", ".yml"))}
        self.assertGreater(len(named), 15)
        self.assertEqual(named - keys, set())

    def test_links_inside_of_it_lead_somewhere(self):
        titles = {title.lower() for title in re.findall(r"^## (.+)$", TEXT, re.MULTILINE)}
        for title, anchor in re.findall(r"\[([^\]]+)\]\(#([^)]+)\)", TEXT):
            with self.subTest(link=title):
                self.assertEqual(title.lower(), anchor)
                self.assertIn(anchor, titles)


if __name__ == "__main__":
    unittest.main()
