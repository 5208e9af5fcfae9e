"""Write ``docs/reference/``: ``python -m tests.reference``."""

from __future__ import annotations

from tests.reference.pages import FOLDER, pages


def main() -> None:
    """Write every page, and remove what no page is called."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    written = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in written:
            path.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(FOLDER / name)


if __name__ == "__main__":
    main()
