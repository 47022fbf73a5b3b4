"""Pictures: the examples of F&O 3.1 and what goes wrong with pictures."""

from __future__ import annotations

import pytest

from tests.functions.oracle import Case
from tests.functions.ours import answer

NUMBERS = [
    ("12345.6", "#,###.00", "12,345.60"),
    ("12345678.9", "9,999.99", "12,345,678.90"),
    ("123.9", "9999", "0124"),
    ("0.14", "01%", "14%"),
    ("-6", "000", "-006"),
    ("1234.5678", "#,##0.0#;(#)", "1,234.57"),
    ("0.234", "0.0e0", "2.3e-1"),
    ("0.00015", "##0.0e0", "1.5e-4"),
    ("1234.5678", "00.000e0", "12.346e2"),
    ("0", "#.#", ".0"),
    ("0.12", "#.##", ".12"),
    ("2.5", "0", "2"),
    ("1234567890", "#,####,###", "123,4567,890"),
    ("1e100", "0", "1" + "0" * 100),
    ("INF", "0%", "Infinity%"),
    ("-INF", "0", "-Infinity"),
    ("NaN", "0", "NaN"),
]
DATES = [
    ("[Y0001]-[M01]-[D01]", "2002-12-31"),
    ("[M]-[D]-[Y]", "12-31-2002"),
    ("[D]-[M]-[Y]", "31-12-2002"),
    ("[D1] [MI] [Y]", "31 XII 2002"),
    ("[D1o] [MNn], [Y]", "31st December, 2002"),
    ("[D01] [MN,*-3] [Y0001]", "31 DEC 2002"),
    ("[MNn] [D], [Y]", "December 31, 2002"),
    ("[[[Y0001]-[M01]-[D01]]]", "[2002-12-31]"),
    ("[YWw]", "Two Thousand and Two"),
    ("[h]:[m01] [PN]", "3:58 PM"),
    ("[h]:[m01]:[s01] [Pn]", "3:58:45 pm"),
    ("[H01]:[m01]:[s01].[f001]", "15:58:45.762"),
    ("[H01]:[m01]:[s01] [z,6-6]", "15:58:45 GMT+02:00"),
    ("[H01]:[m01] [Z]", "15:58 +02:00"),
    ("[Z0]", "+2"),
    ("[Z0000]", "+0200"),
    ("[ZZ]", "B"),
    ("[FNn], day [d] of week [W01]", "Tuesday, day 365 of week 01"),
    ("[Y,2-2]", "02"),
    ("[f,1-2]", "76"),
]
INTEGERS = [
    ("123", "0000", "0123"),
    ("123", "w", "one hundred and twenty-three"),
    ("21", "1;o", "21st"),
    ("14", "Ww;o(-e)", "Fourteenth"),
    ("7", "a", "g"),
    ("57", "I", "LVII"),
    ("1234", "#;##0;", "1;234"),
    ("-27", "A", "-AA"),
    ("1234567", "#,##0", "1,234,567"),
    ("1234567", "00,000,0", "123,456,7"),
    ("5", "٠١", "٠٥"),
]


@pytest.mark.parametrize(("number", "picture", "expected"), NUMBERS)
def test_format_number(number, picture, expected):
    case = Case("format-number", ("double", number), ("string", picture))
    assert answer(case) == f"string {expected}"


@pytest.mark.parametrize(("picture", "expected"), DATES)
def test_format_date_time(picture, expected):
    value = ("dateTime", "2002-12-31T15:58:45.762+02:00")
    assert answer(Case("format-dateTime", value, ("string", picture))) == f"string {expected}"


@pytest.mark.parametrize(("number", "picture", "expected"), INTEGERS)
def test_format_integer(number, picture, expected):
    case = Case("format-integer", ("integer", number), ("string", picture))
    assert answer(case) == f"string {expected}"


@pytest.mark.parametrize("picture", ["", "0.0.0", "#0#", "0,", ",,0", "0%%", "a", "0e", "0e0%"])
def test_pictures_of_numbers_that_make_no_sense(picture):
    case = Case("format-number", ("double", "1"), ("string", picture))
    assert answer(case) in ("!FODF1310", "string 1e")


@pytest.mark.parametrize("picture", ["[Y", "Y]", "[x]", "[]", "[Y,0]", "[Y,3-2]", "[Y,a]"])
def test_pictures_of_dates_that_make_no_sense(picture):
    case = Case("format-dateTime", ("dateTime", "2000-01-01T00:00:00"), ("string", picture))
    assert answer(case) == "!FOFD1340"


@pytest.mark.parametrize("picture", ["", ";", "0,", ",0", "0,,0", "1#", "1;z", "1a", "0٠"])
def test_pictures_of_integers_that_make_no_sense(picture):
    case = Case("format-integer", ("integer", "1"), ("string", picture))
    assert answer(case) == "!FODF1310"
