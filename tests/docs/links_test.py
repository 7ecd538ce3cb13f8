#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Follows every link of the repository's pages, without network: links_test.py REPOSITORY.

Files that are linked exist, and so do the headings that anchors name; pages of docs/ stand in the book once; CMake in
docs/how-to/consuming.md is what tests/consumer builds. What else pages name: sdk/support/checks/claims.py."""

import os
import re
import sys
from pathlib import Path

SKIPPED = {"build", "out", ".git", ".cache"}
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
CODE = re.compile(r"^(```|~~~).*?^\1$|`[^`\n]+`", re.M | re.S)


def pages_of(repository):
    for folder, folders, files in os.walk(repository):
        folders[:] = [name for name in folders if name not in SKIPPED]
        yield from (Path(folder) / name for name in files if name.endswith(".md"))


def anchors(text):
    """The anchors of a page's headings, as hosts of repositories and MkDocs form them."""
    found = set()
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")
        name, count = slug, 0
        while name in found:
            count += 1
            name = f"{slug}-{count}"
        found.add(name)
    return found


def problems_of_page(page, text, repository):
    for link in LINK.findall(CODE.sub("", text)):
        if re.match(r"(https?|mailto):", link):
            continue
        path, _, anchor = link.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"links to {link}, which is not there"
        elif not file.is_relative_to(repository):
            yield f"links to {link}, outside of the repository"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield f"links to {link}, but {file.name} has no such heading"


def problems(repository):
    pages = {page: page.read_text(encoding="utf-8") for page in sorted(pages_of(repository))}
    if len(pages) < 30:
        yield f"only {len(pages)} pages found under {repository}"
    for page, text in pages.items():
        name = page.relative_to(repository)
        for problem in problems_of_page(page, text, repository):
            yield f"{name}: {problem}"

    book = (repository / "docs/site/book.txt").read_text(encoding="utf-8")
    listed = re.findall(r"^ *(?:[^#\n]*: )?(\S+\.md)$", book, re.M)
    for page in listed:
        if listed.count(page) > 1:
            yield f"docs/site/book.txt names {page} more than once"
        if not (repository / page).exists():
            yield f"docs/site/book.txt names {page}, which is not there"
    for group in ("", "tutorials/", "how-to/", "reference/", "explanation/"):
        for page in sorted((repository / "docs").glob(group + "*.md")):
            if str(page.relative_to(repository)) not in listed:
                yield f"docs/site/book.txt does not name docs/{group}{page.name}"

    projects = "\n".join(p.read_text() for p in (repository / "tests/consumer").rglob("CMakeLists.txt"))
    built = {line.strip() for line in projects.splitlines()}
    consuming = repository / "docs/how-to/consuming.md"
    for block in re.findall(r"^```cmake\n(.*?)^```$", pages.get(consuming, ""), re.M | re.S):
        for line in block.splitlines():
            if line.strip() not in built:
                yield f"docs/how-to/consuming.md: no project of tests/consumer has '{line.strip()}'"


def finds_what_is_wrong(repository):
    """The check itself: broken links and anchors are found."""
    page = repository / "docs/README.md"
    for text in ("[a](nowhere.md)", "[a](explanation/architecture.md#nowhere)", "[a](../../beside)", "![a](picture.png)"):
        if not list(problems_of_page(page, text, repository)):
            return f"'{text}' was accepted"
    return None if not list(problems_of_page(page, "[a](explanation/architecture.md#words-with-one-meaning-each) `[b](c)`", repository)) \
        else "a good link was refused"


def main():
    repository = Path(sys.argv[1]).resolve()
    found = list(problems(repository))
    broken = finds_what_is_wrong(repository)
    found += [broken] if broken else []
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
