"""Names that strangers chose: no document runs, breaks or loses them."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from calipers.report.export_csv import csv_table
from calipers.report.export_latex import latex_table
from calipers.report.export_latex_escape import escape as latex
from calipers.report.export_markdown import markdown_table
from calipers.report.export_markdown_escape import escape as markdown
from calipers.report.names import clean
from calipers.report.notebook import notebook_html

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "{{ 7*7 }} {% raw %}",
    "a|b\\|c\\",
    "`x` **b** _i_ ~~s~~",
    "![i](http://e.x/i.png)",
    "[l](javascript:alert(1))",
    "$x$ \\(y\\) $$z$$",
    "nul\0 tab\t line\n return\r",
    "bidi\u202e\u200f end",
    "lone \ud800 \udfff",
    "\\input{/etc/passwd}",
    "\\end{tabular}\\end{table}",
    "50 % & # _ ^ ~ {}",
    "[x] *y* -- ?` <<",
    "| --- |",
    "=1+1",
    "'\"quotes\"'",
    "&lt;b&gt; &#124; &amp;",
    "</table></div>",
    "<!-- c -->",
    "\x1b[31mred",
    "*",
    "\\",
    "_",
]
FORMS = (markdown_table, latex_table, csv_table, notebook_html)


@pytest.fixture
def hostile(make):
    """Hostile names wherever a document shows one."""
    systems = []
    for name in HOSTILE:
        scores = make["both_views"](*[0.5] * 8)
        scores["recall"] = make["score"](None, reason=name)
        scores[f"recall:group={name}"] = make["score"](0.25)
        systems.append(make["system"](name, scores, warnings=[name]))
    data = make["comparison"](systems, embedder=HOSTILE[0], group=HOSTILE[3])
    data["reference"] |= {"name": HOSTILE[1], "groups": dict.fromkeys(HOSTILE, 20)}
    return data | {"warnings": [HOSTILE[4]], "calipers": HOSTILE[8]}


class Cells(HTMLParser):
    """The first cell of every row, and all tags."""

    def __init__(self, html):
        super().__init__()
        self.first, self.tags, self.count = [], set(), -1
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.first.append("")
            self.count = 0
        elif tag in ("td", "th"):
            self.count += 1

    def handle_endtag(self, tag):
        self.count = -1 if tag == "tr" else self.count

    def handle_data(self, data):
        if self.count == 1:
            self.first[-1] += data


def squeezed(names):
    return [" ".join(name.replace("\N{WORD JOINER}", "").split()) for name in names]


@pytest.mark.parametrize("form", FORMS)
def test_is_written_as_utf8_and_the_same_each_time(form, hostile):
    text = form(hostile)
    assert text.encode("utf-8").decode("utf-8") == form(hostile)
    assert "\0" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_markdown_shows_the_names_and_nothing_else(hostile):
    html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(
        markdown_table(hostile)
    )  # fmt: skip
    cells = Cells(html)
    assert squeezed(cells.first[1 : 1 + len(HOSTILE)]) == squeezed(map(clean, HOSTILE))
    assert cells.tags == {"p", "table", "thead", "tbody", "tr", "th", "td", "strong", "ul", "li"}
    assert not re.search(r"\{\{|\{%", markdown_table(hostile))


def test_notebook_shows_the_names_and_nothing_else(hostile):
    cells = Cells(notebook_html(hostile))
    assert squeezed(cells.first[2 : 2 + len(HOSTILE)]) == squeezed(map(clean, HOSTILE))
    assert not cells.tags & {"script", "img", "a", "style", "input", "iframe"}


def test_latex_holds_no_command_of_a_stranger(hostile):
    lines = latex_table(hostile).split("\n")
    text = "\n".join(line for line in lines if not line.startswith("%"))
    known = {
        "begin", "end", "centering", "small", "setlength", "tabcolsep", "caption", "label",
        "smallskip", "toprule", "midrule", "bottomrule", "cmidrule", "multicolumn", "par",
        "medskip", "clearpage", "uparrow", "textbackslash", "textasciitilde", "textasciicircum",
        "textless", "textgreater", "textbar", "textasciigrave", "texttt", "textbf", "ldots",
    }  # fmt: skip
    assert set(re.findall(r"\\([A-Za-z]+)", text)) <= known
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}")
    assert all(text[:at].count("{") >= text[:at].count("}") for at in range(0, len(text), 97))


def test_csv_gives_the_names_back(hostile):
    found = csv.DictReader(io.StringIO(csv_table(hostile), newline=""))
    names = list(dict.fromkeys(row["system"] for row in found))
    assert names == [f"'{name}" if name[0] in "=-" else name for name in map(clean, HOSTILE)]


@given(st.text(max_size=40))
@settings(max_examples=150, deadline=None)
def test_any_text_comes_back_from_a_cell_of_markdown(text):
    row = f"| a |\n| - |\n| x{markdown(text)}x |\n"
    cells = Cells(MarkdownIt("commonmark", {"html": True}).enable("table").render(row))
    assert squeezed(cells.first[1:]) == squeezed([f"x{clean(text)}x"])


@given(st.text(alphabet=st.sampled_from('\\{}$&%#_^~[]*-<>|`"ab \0é'), max_size=20))
@settings(max_examples=150, deadline=None)
def test_any_text_is_balanced_in_latex(text):
    written = re.sub(r"\\[{}$&%#_]", "", latex(text))
    assert not re.search(r"[$&%#_^~]", re.sub(r"\\[a-zA-Z]+", "", written))
    depth = 0
    for character in written:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0


def test_a_name_of_a_megabyte_is_cut(make):
    systems = [make["system"]("|<" * 500_000, {"recall": make["score"](0.5)})]
    data = make["comparison"](systems, views=["meaning"])
    assert all(len(form(data)) < 40_000 for form in FORMS)
