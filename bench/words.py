"""Invented words and names: pronounceable, in no language, the same in every generated document."""

from functools import cache

from bench.dice import Dice, zipf


def listed(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


ONSETS = listed("b bl br c ch cl d dr f fl fr g gl gr h j k l m n p pl pr r s st t th tr v w")
VOWELS = listed("a a a e e e o o y ai ea ie oo ou")
CODAS = listed("b d ft l ll m n n nd nk r r rd rn s s ss st t t x")
SYLLABLES = (1, 1, 2, 2, 2, 2, 3, 3)

VOCABULARY = 12_000
# Words that the published queries look for, at the rank that gives them the frequency they need.
PLANTED = {420: "gold", 2400: "golden", 5200: "marigold"}

FIRST_NAMES = listed(
    "Ada Adil Agnes Aiko Alan Amara Andrei Anita Anouk Arjun Astrid Aylin Beatriz Boris Bruno "
    "Carla Chen Chidi Clara Dafna Daniel Dilip Dora Edwin Elena Emil Erik Esther Fatima Felix "
    "Fiona Gabor Gita Goran Greta Hamid Hana Hugo Ida Igor Ines Ivan Jamal Jana Jin Joan Jonas "
    "Julia Kaito Karin Katya Kofi Lars Leila Lena Leo Lin Lucia Magnus Malik Mara Marco Maria "
    "Mei Mila Milan Mona Nadia Naoko Nils Nina Noor Olga Omar Oscar Paula Pedro Petra Priya "
    "Quentin Rafael Rana Rita Robin Rosa Sami Sara Selma Simon Sofia Stefan Tara Tariq Tessa "
    "Theo Tomas Uma Vera Victor Viktoria Wanda Wei Xenia Yara Yusuf Zoe"
)


@cache
def vocabulary() -> tuple[str, ...]:
    """Different words by falling frequency."""
    dice = Dice(0, "vocabulary")
    found = dict.fromkeys(PLANTED.values())
    while len(found) < VOCABULARY:
        found[_word(dice)] = None
    words = sorted(list(found)[len(PLANTED) :], key=len)  # common words are short
    for rank, word in PLANTED.items():
        words.insert(rank, word)
    return tuple(words)


@cache
def frequent() -> tuple[str, ...]:
    """The vocabulary as a distribution: common words many times, rare ones once."""
    return zipf(vocabulary())


@cache
def surnames() -> tuple[str, ...]:
    """Different family names, none of them more common than another."""
    dice = Dice(0, "surnames")
    return tuple(dict.fromkeys(_word(dice, least=2).capitalize() for _ in range(3000)))


def phrase(dice: Dice, length: int) -> str:
    """So many words, each followed by a blank."""
    return "".join([dice.one(frequent()) + " " for _ in range(length)])


def _word(dice: Dice, least: int = 1) -> str:
    count = max(least, dice.one(SYLLABLES))
    return "".join([_syllable(dice) for _ in range(count)]) + dice.one(CODAS)


def _syllable(dice: Dice) -> str:
    return dice.one(ONSETS) + dice.one(VOWELS)
