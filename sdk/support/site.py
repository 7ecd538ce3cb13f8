#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the documentation's site: site.py OUT [--book-only].

The book is the repository's own pages, in the order of docs/site/book.txt, made by MkDocs; the reference is made of the
public headers by Doxygen and lands in OUT/reference.  Pages are staged at their own paths, so links between them hold; a
link to another file of the repository becomes a page that shows the file.  MkDocs runs strictly: a link that leads nowhere
is an error.  Nothing is loaded from the network, neither here nor by who reads the site.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.M | re.S)
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".inl": "cpp", ".h": "c", ".c": "c", ".py": "python", ".cmake": "cmake",
             ".txt": "text", ".json": "json", ".glsl": "glsl", ".comp": "glsl", ".sh": "sh"}


def chapters():
    """[(chapter or None, title, page)] in the order of the book; a title of None is the page's own."""
    chapter, found = None, []
    for line in (ROOT / "docs/site/book.txt").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        title, _, page = line.strip().rpartition(": ")
        if not line.startswith(" "):
            chapter = None if title else page
            if title:
                found.append((None, title, page))
        elif page.endswith("*"):
            found += [(chapter, None, str(p.relative_to(ROOT))) for p in sorted(ROOT.glob(page + ".md"))]
        else:
            found.append((chapter, title, page))
    return found


def headline(page):
    return re.search(r"^# (.*)$", (ROOT / page).read_text(encoding="utf-8"), re.M).group(1)


class Book:
    def __init__(self, folder):
        self.folder, self.pages = folder, {page for _, _, page in chapters()}
        self.shown = {}  # files of the repository that pages link to, and the pages that show them

    def target(self, page, link):
        """Where a page's link leads in the staged book."""
        if re.match(r"[a-z]+:|#", link):
            return link
        path, _, anchor = link.partition("#")
        file = Path(os.path.normpath(Path(page).parent / path))
        if not (ROOT / file).exists():
            sys.exit(f"{page}: there is no {file}")
        if str(file) in self.pages:
            aim = str(file)
        elif file.suffix in (".gif", ".jpg", ".png", ".svg", ".webp"):
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, self.folder / file)
            aim = str(file)
        else:
            aim = f"source/{file}.md"
            self.shown[str(file)] = aim
        back = os.path.relpath(aim, Path(page).parent)
        return back + (f"#{anchor}" if anchor and str(file) in self.pages else "")

    def stage(self, page):
        text = (ROOT / page).read_text(encoding="utf-8")
        codes = [m.span() for m in CODE.finditer(text)]

        def replace(match):
            if any(begin <= match.start() < end for begin, end in codes):
                return match.group()
            return f"{match.group(1)}({self.target(page, match.group(2))})"

        out = self.folder / page
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(LINK.sub(replace, text), encoding="utf-8")

    def show(self, file, page):
        """A page that shows a file of the repository, or lists a folder."""
        source, out = ROOT / file, self.folder / page
        out.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            names = "\n".join(sorted(p.name + "/" * p.is_dir() for p in source.iterdir()))
            body = f"```text\n{names}\n```"
        else:
            fence = LANGUAGES.get(source.suffix, "text")
            body = f"~~~~~~~~{fence}\n{source.read_text(encoding='utf-8')}\n~~~~~~~~"
        out.write_text(f"# `{file}`\n\n{body}\n", encoding="utf-8")


def configuration(out, has_reference):
    lines = ["site_name: Hearth", "site_description: Neural networks inside games", f"docs_dir: {out}/pages",
             f"site_dir: {out}/html", "theme:", "  name: readthedocs", "  highlightjs: false",
             "  include_homepage_in_sidebar: false", "strict: true", "use_directory_urls: false", "plugins: [search]",
             "markdown_extensions:", "  - tables", "  - fenced_code", "  - codehilite: {guess_lang: false, css_class: highlight}",
             "  - toc: {permalink: true}", "extra_css: [highlight.css]", "nav:"]
    chapter = None
    for part, title, page in chapters():
        if part != chapter:
            lines.append(f"  - {part}:")
            chapter = part
        lines.append("  " * (2 if part else 1) + f"- \"{title or headline(page)}\": {page}")
    if has_reference:
        lines += ["  - API:", "    - \"C and C++ interface\": reference.md"]
    return "\n".join(lines) + "\n"


def run(*command, **settings):
    if subprocess.run(command, check=False, **settings).returncode != 0:
        sys.exit(f"site: {command[0]} failed")


def reference(out):
    html = out / "html/reference"
    html.mkdir(parents=True)
    text = (ROOT / "docs/site/Doxyfile").read_text(encoding="utf-8")
    # The C headers' comments are plain; Doxygen wants them marked.
    text += f"""
INPUT = {ROOT}/sdk/include/hearth
STRIP_FROM_PATH = {ROOT}/sdk/include
STRIP_FROM_INC_PATH = {ROOT}/sdk/include
OUTPUT_DIRECTORY = {html}
FILTER_PATTERNS = *.h="sed -E -e 's#^( *)/\\* #\\1/** #' -e 's#([;,].*)/\\* #\\1/**< #'"
"""
    run("doxygen", "-", input=text.encode())
    if not (html / "index.html").exists():
        sys.exit("site: Doxygen wrote no index.html")


def main():
    out, has_reference = Path(sys.argv[1]).resolve(), "--book-only" not in sys.argv
    shutil.rmtree(out, ignore_errors=True)
    book = Book(out / "pages")
    for _, _, page in chapters():
        book.stage(page)
    for file, page in sorted(book.shown.items()):
        book.show(file, page)
    style = subprocess.run([sys.executable, "-m", "pygments", "-S", "default", "-f", "html", "-a", ".highlight"],
                           capture_output=True, text=True, check=False)
    (out / "pages/highlight.css").write_text(style.stdout if style.returncode == 0 else "", encoding="utf-8")
    if has_reference:
        (out / "pages/reference.md").write_text(
            "# API\n\nThe public headers, by Doxygen: <a href=\"reference/index.html\">C and C++ interface</a>. "
            "`hearth/hearth.h` is the C interface of the runtime.\n", encoding="utf-8")
    (out / "mkdocs.yml").write_text(configuration(out, has_reference), encoding="utf-8")
    run("mkdocs", "build", "--quiet", "--config-file", str(out / "mkdocs.yml"))
    if has_reference:
        reference(out)
    # Of a page that is read without network nothing is missing.
    for page in (out / "html").rglob("*.html"):
        found = re.search(r"<(?:script|link|img)[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*\"", page.read_text(encoding="utf-8"))
        if found and "canonical" not in found.group():
            sys.exit(f"site: {page.relative_to(out)} loads from the network: {found.group()}")
    print(f"{len(book.pages)} pages, {len(book.shown)} files shown: {out}/html/index.html")


if __name__ == "__main__":
    main()
