#!/usr/bin/env python3
"""Every link of the repository's Markdown leads somewhere: to a file or folder, and to a heading of that page.

links.py ROOT. Links to the network are not followed. Headings are named as GitHub and docs/site/mkdocs.yml name them.
"""

import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[^\]]+\]:[ \t]*(\S+)[ \t]*$", re.MULTILINE)


def without_code(text: str) -> str:
    """The text without blocks and spans of code, in which brackets are not links."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "`", text)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings: the second of the same name ends in -1, the third in -2."""
    found: dict[str, int] = {}
    names = set()
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = found.get(name, 0)
        found[name] = count + 1
        names.add(f"{name}-{count}" if count else name)
    return names


def fault(page: Path, link: str) -> str | None:
    """The fault of a link; None: none."""
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return "is not there"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return "has no such heading"
    return None


def main() -> int:
    root = Path(sys.argv[1]).resolve()
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        capture_output=True, text=True, check=False)
    pages = [root / name for name in listed.stdout.split("\0") if name] if listed.returncode == 0 else [
        page for page in root.rglob("*.md") if "build" not in page.relative_to(root).parts]
    count = faults = 0
    for page in pages:
        if not page.exists():
            continue
        for match in LINK.finditer(without_code(page.read_text(encoding="utf-8"))):
            link = match[1] or match[2]
            if re.match(r"[a-z]+:", link):
                continue
            count += 1
            if why := fault(page, link):
                faults += 1
                print(f"{page.relative_to(root)}: {link} {why}")
    if count < 40:
        faults += 1
        print(f"only {count} links found in {len(pages)} pages")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
