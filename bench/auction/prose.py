"""Running text with XMark's mark-up: bold, keyword and emph, nested lists of paragraphs."""

from functools import lru_cache

from bench.dice import Dice, geometric
from bench.words import frequent, phrase

PHRASES = 8192
MARKS = ("bold", "keyword", "emph")
PLAIN_LENGTH = geometric(12.4)
MARKED_LENGTH = geometric(5.6)
PHRASES_IN_TEXT = geometric(7.4)
WORDS_IN_NAME = (1, 2, 3, 4)
PARAGRAPHS = (2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 5)


class Prose:
    """Text for one part of the document, assembled from a pool of phrases."""

    def __init__(self, seed: int, part: str) -> None:
        self.dice = Dice(seed, part)
        self._phrases = _phrases(seed)

    def name(self) -> str:
        """One to four words, each followed by a blank."""
        return phrase(self.dice, self.dice.one(WORDS_IN_NAME))

    def text(self) -> str:
        """A `text` element; its length thins out geometrically."""
        draw, phrases = self.dice.draw, self._phrases
        count = 1 + self.dice.one(PHRASES_IN_TEXT)
        body = "".join([phrases[draw() * PHRASES >> 32] for _ in range(count)])
        return f"<text>\n{body}\n</text>\n"

    def description(self) -> str:
        """A `description`: one text, or one time in four a list of them, at most two lists deep."""
        body = self._list(nested=13) if self.dice.chance(28) else self.text()
        return f"<description>\n{body}</description>\n"

    def _list(self, nested: int) -> str:
        items = [self._list_item(nested) for _ in range(self.dice.one(PARAGRAPHS))]
        return f"<parlist>\n{''.join(items)}</parlist>\n"

    def _list_item(self, nested: int) -> str:
        body = self._list(nested=0) if self.dice.chance(nested) else self.text()
        return f"<listitem>\n{body}</listitem>\n"


@lru_cache(maxsize=1)
def _phrases(seed: int) -> list[str]:
    dice = Dice(seed, "phrases")
    return [_phrase(dice) for _ in range(PHRASES)]


def _phrase(dice: Dice) -> str:
    if not dice.chance(21):
        return phrase(dice, 1 + dice.one(PLAIN_LENGTH))
    outer = dice.one(MARKS)
    body = phrase(dice, 1 + dice.one(MARKED_LENGTH))
    if dice.chance(16):
        inner = dice.one([mark for mark in MARKS if mark != outer])
        body += f"<{inner}> {dice.one(frequent())} </{inner}> "
    return f"<{outer}> {body}</{outer}> "
