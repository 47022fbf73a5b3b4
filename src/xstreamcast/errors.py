"""Errors: one table of codes, one class per kind of mistake, one way to show them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import ClassVar, Final, TypeAlias

Span: TypeAlias = tuple[int, int]

_SECRET: Final = re.compile(r"(?<=:/)(/?)([^/\s\"']*)@")  # who asks, in an address
_WINDOW: Final = 96  # columns of a source line that are shown; XML often has no line ends at all


@dataclass(frozen=True, slots=True)
class TextPlace:
    """Where in a query text: line and column count from 1, the span is in characters."""

    name: str
    line: int
    column: int
    source_line: str
    span: Span

    def __str__(self) -> str:
        return f"{self.name}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class DataPlace:
    """Where in the input: stream, fragment, byte offset from 0, line and column from 1."""

    stream: str
    fragment: str | int | None = None
    offset: int | None = None
    line: int | None = None
    column: int | None = None
    source_line: str | None = None  # or what is worth showing of it
    shown_from: int = 0  # characters of the line before `source_line`

    def __str__(self) -> str:
        spot = "".join(f":{n}" for n in (self.line, self.column) if n is not None)
        more = [f"fragment {self.fragment}"] if self.fragment is not None else []
        more += [f"byte {self.offset}"] if self.offset is not None else []
        return self.stream + spot + (f" ({', '.join(more)})" if more else "")


Place: TypeAlias = TextPlace | DataPlace


@dataclass(frozen=True, slots=True)
class Source:
    """A query text with its name; turns spans into places."""

    name: str
    text: str

    def place(self, span: Span) -> TextPlace:
        start = max(0, min(span[0], len(self.text)))
        first = self.text.rfind("\n", 0, start) + 1
        end = self.text.find("\n", start)
        source_line = self.text[first : len(self.text) if end < 0 else end].rstrip("\r")
        return TextPlace(
            self.name, self.text.count("\n", 0, start) + 1, start - first + 1, source_line, span
        )


class Error(Exception):
    """An error for a user: code, message, place, hint."""

    exit_code: ClassVar[int] = 1

    def __init__(
        self, code: str, message: str, place: Place | None = None, hint: str | None = None
    ) -> None:
        super().__init__(code, message, place, hint)
        self.code = code
        self.message = message
        self.place = place
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}" + (f" at {self.place}" if self.place else "")

    @property
    def sentence(self) -> str:
        """The message as it is printed: addresses without user and password."""
        return without_credentials(self.message)

    @property
    def line(self) -> int | None:
        return self.place.line if self.place else None

    @property
    def column(self) -> int | None:
        return self.place.column if self.place else None

    @property
    def exit_status(self) -> int:
        """The exit code of the command line."""
        return self.exit_code

    def located(self, at: Place | None) -> Error:
        """The same error, with a place if it had none."""
        if self.place is None and at is not None:
            self.place = at
            self.args = (self.code, self.message, at, self.hint)
        return self

    def render(self, color: bool = False) -> str:
        """The text of the error as commands print it, without a line end."""
        paint = _Paint(color)
        lines = [f"{paint.red(f'error[{self.code}]')}: {paint.bold(_visible(self.sentence))}"]
        lines += _picture(self.place, paint) if self.place else []
        hint = without_credentials(self.hint or "")
        lines += [f"{paint.blue('hint')}: {_visible(hint)}"] if hint else []
        return "\n".join(lines)


def without_credentials(text: str) -> str:
    """A text whose addresses name neither user nor password."""
    return _SECRET.sub(r"\1", text)


class QueryError(Error):
    """A mistake in the query: static (it does not compile) or dynamic (it failed while running)."""

    static: bool = False
    qname: tuple[str, str] | None = None  # (namespace, local) where the query chose its own code
    prefix: str = ""  # what the query wrote before the colon of its own code
    value: object = None  # the error object of fn:error
    not_given: bool = False  # the query is right; an input or a value that it reads is not given

    @property
    def exit_status(self) -> int:
        if self.not_given:
            return UsageError.exit_code
        return 3 if self.static else 1


class InputError(Error):
    """XML or fragments that cannot be read."""

    exit_code = 4


class UsageError(Error):
    """A mistake in a command or a call."""

    exit_code = 2


def error(
    code: str,
    message: str | None = None,
    *,
    at: Place | None = None,
    hint: str | None = None,
    static: bool | None = None,
    qname: tuple[str, str] | None = None,
    value: object = None,
) -> Error:
    """The error of a code; its class comes from the table. Codes outside it need a `qname`."""
    kind, sentence = CODES.get(code) or _chosen_by_the_query(code, qname)
    made = kind(code, message or sentence, at, hint)
    if isinstance(made, QueryError):
        made.static = code in STATIC if static is None else static
        made.qname, made.value = qname, value
    return made


def not_given(
    code: str, message: str, *, at: Place | None = None, hint: str | None = None
) -> Error:
    """The error for what a query reads and its caller did not give: a mistake in the call."""
    made = error(code, message, at=at, hint=hint)
    if isinstance(made, QueryError):
        made.not_given = True
    return made


def _chosen_by_the_query(code: str, qname: tuple[str, str] | None) -> tuple[type[Error], str]:
    if qname is None:
        raise ValueError(f"{code} is not in the table of codes")
    return QueryError, "error raised by the query"


@dataclass(frozen=True, slots=True)
class _Paint:
    """Terminal colours, or none."""

    on: bool

    def _wrap(self, text: str, sgr: str) -> str:
        return f"\x1b[{sgr}m{text}\x1b[0m" if self.on else text

    def red(self, text: str) -> str:
        return self._wrap(text, "1;31")

    def blue(self, text: str) -> str:
        return self._wrap(text, "1;34")

    def bold(self, text: str) -> str:
        return self._wrap(text, "1")


def _picture(place: Place, paint: _Paint) -> list[str]:
    """The arrow line and, where the source is at hand, its line with carets under it."""
    arrow = f" {paint.blue('-->')} {_visible(str(place))}"
    if place.source_line is None or place.line is None or place.column is None:
        return [arrow]
    if isinstance(place, TextPlace):
        width, cut = place.span[1] - place.span[0], 0
    else:
        width, cut = 1, place.shown_from
    # as long as it was, for the carets
    line = _SECRET.sub(lambda found: f"{found[1]}{'*' * len(found[2])}@", place.source_line)
    shown, pad, carets = _underlined(line, place.column - 1 - cut, width, cut > 0)
    number, bar = str(place.line), paint.blue("|")
    margin = " " * len(number)
    return [
        arrow,
        f"{paint.blue(number)} {bar} {shown}".rstrip(),
        f"{margin} {bar} {' ' * pad}{paint.red('^' * carets)}",
    ]


def _underlined(line: str, column: int, width: int, cut: bool) -> tuple[str, int, int]:
    """What is shown of a line, the cells before the carets, and the number of carets."""
    column = min(column, len(line))
    first = max(0, column - _WINDOW // 2) if len(line) > _WINDOW else 0
    last = min(len(line), first + _WINDOW)
    head, tail = "…" if first or cut else "", "…" if last < len(line) else ""
    pad = len(head) + _cells(line[first:column])
    carets = _cells(line[column : min(last, column + width)])
    return head + _visible(line[first:last]) + tail, pad, max(1, carets)


def _cells(text: str) -> int:
    """Terminal cells that a text takes once it is made visible."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _visible(text: str) -> str:
    """Data must not steer the terminal: tabs become spaces, other controls a question mark."""
    return "".join(
        " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" if _steers(c) else c for c in text
    )


def _steers(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cs") and character != "\n"


_STATIC: Final = """
XPST0001 a component of the static context that the expression needs has no value
XPST0003 the query does not follow the grammar
XPST0005 the static type of the expression is empty-sequence()
XPST0008 the name is not declared
XPST0010 the axis is not supported
XPST0017 no function has this name and number of arguments
XPST0051 the type name is not known
XPST0080 the target of a cast must not be xs:NOTATION, xs:anySimpleType or xs:anyAtomicType
XPST0081 the namespace prefix is not declared
XQST0009 schema import is not supported
XQST0012 the imported schemas do not fit together
XQST0013 the pragma is not understood
XQST0016 module import is not supported
XQST0022 a namespace declaration must be a literal address
XQST0031 this version of XQuery is not supported
XQST0032 the base URI is declared more than once
XQST0033 the prefix is declared more than once
XQST0034 the function is declared more than once
XQST0035 the imported schemas declare the same name
XQST0036 the library module uses a type that is not in scope
XQST0038 the default collation is unknown or declared more than once
XQST0039 two parameters have the same name
XQST0040 two attributes of the constructor have the same name
XQST0045 the namespace of a declared function is reserved
XQST0046 the literal is not a valid URI
XQST0047 the namespace is imported more than once
XQST0048 a library module declares names in its own namespace only
XQST0049 the variable is declared more than once
XQST0052 the type of a cast must be a simple type
XQST0054 the initial value of the variable depends on itself
XQST0055 copy-namespaces is declared more than once
XQST0057 a schema import with a prefix needs a namespace
XQST0058 the schema is imported more than once
XQST0059 the imported module or schema cannot be found
XQST0060 a declared function must be in a namespace
XQST0065 the ordering mode is declared more than once
XQST0066 the default namespace is declared more than once
XQST0067 the construction mode is declared more than once
XQST0068 boundary-space is declared more than once
XQST0069 the empty order is declared more than once
XQST0070 the prefixes xml and xmlns, and their namespaces, cannot be bound otherwise
XQST0071 the constructor declares a prefix twice
XQST0075 validate is not supported
XQST0076 the collation is not known
XQST0079 an extension expression without a known pragma must have a body
XQST0085 a prefix cannot be undeclared here
XQST0087 the encoding name is not valid
XQST0088 the namespace of a module must not be empty
XQST0089 the variable and its position variable have the same name
XQST0090 the character reference does not name an XML character
XQST0093 the module imports itself
XQST0094 a grouping variable must be bound before group by
XQST0097 decimal-format: the value does not fit the property
XQST0098 decimal-format: two properties have the same character
XQST0099 the context item is declared more than once
XQST0103 two variables of the window clause have the same name
XQST0104 the type of validate is not known
XQST0106 the annotations contradict each other
XQST0108 an output declaration belongs in a main module
XQST0109 the serialisation parameter is not known
XQST0110 the serialisation parameter is declared more than once
XQST0111 the decimal format is declared more than once
XQST0113 a library module gives the context item no value
XQST0114 decimal-format: the property is given more than once
XQST0115 the serialisation parameters cannot be read
XQST0116 the annotations of the variable contradict each other
XQST0118 the end tag must match the start tag
XQST0119 the parameter document cannot be read
XQST0125 an inline function is neither public nor private
XQST0129 the feature is not supported
XQST0134 XQuery has no namespace axis
XSCS0001 this part of the language is not supported
XSCS0002 the function needs the end of a sequence that may have none
XSCS0003 the stream is declared more than once
XSCS0004 the streams of the query read each other in a circle
XSCS0005 the option names no declared stream, or no query that reads it
"""

_DYNAMIC: Final = """
XPDY0002 the expression needs a context item, and there is none
XPDY0050 treat as: the value does not have the type
XPDY0130 a limit of this implementation was reached
XPTY0004 the value does not have the required type
XPTY0018 the last step of a path gives both nodes and other values
XPTY0019 a step of a path must give nodes
XPTY0020 an axis step needs a node as context item
XPTY0117 xs:untypedAtomic cannot become a namespace-sensitive type
XQDY0025 two attributes of the element have the same name
XQDY0026 the content of a processing instruction must not contain ?>
XQDY0027 the value is not valid against the schema
XQDY0041 the value is not a valid name for a processing instruction
XQDY0044 the name of the attribute is not allowed
XQDY0054 the value of the variable depends on itself
XQDY0061 the operand of validate must be a document or an element
XQDY0064 a processing instruction cannot be named xml
XQDY0072 a comment must not contain -- nor end with -
XQDY0074 the value is not a valid name
XQDY0084 the element of a strict validate has no declaration
XQDY0091 the value is not a valid xml:id
XQDY0092 the value of xml:space must be preserve or default
XQDY0096 the name of the element is not allowed
XQDY0101 the namespace node is not allowed
XQDY0102 the element has two bindings for one prefix
XQDY0137 two entries of the map have the same key
XQTY0024 an attribute cannot come after other content
XQTY0030 the operand of validate must be one document or element
XQTY0086 the copied value needs namespaces that are not kept
XQTY0105 a function cannot be the content of an element
FOAP0001 the number of arguments does not fit the function
FOAR0001 division by zero
FOAR0002 numeric overflow or underflow
FOAY0001 the array has no such position
FOAY0002 the length must not be negative
FOCA0001 the value is too large for xs:decimal
FOCA0002 the value is not a valid name or address
FOCA0003 the value is too large for xs:integer
FOCA0005 NaN is not allowed here
FOCA0006 the string has too many digits for xs:decimal
FOCH0001 the codepoint is not an XML character
FOCH0002 the collation is not known
FOCH0003 the normalisation form is not known
FOCH0004 the collation does not support substrings
FODC0001 the node must be in a tree whose root is a document
FODC0002 the resource cannot be read
FODC0003 the function is not stable
FODC0004 the collection address is not valid
FODC0005 the document address is not valid
FODC0006 the string is not a well-formed document
FODC0010 the processor has no serialiser
FODF1280 the decimal format is not declared
FODF1310 the picture of format-number is not valid
FODT0001 overflow or underflow in a date or time
FODT0002 overflow or underflow in a duration
FODT0003 the time zone is not valid
FOER0000 error raised by the query
FOFD1340 the picture of a date or time is not valid
FOFD1350 the component is not in the value
FOJS0001 the text is not valid JSON
FOJS0003 the JSON object has a key twice
FOJS0004 the processor does not validate
FOJS0005 the option is not valid
FOJS0006 the XML does not represent JSON
FOJS0007 the escape in the JSON string is not valid
FONS0004 no namespace is bound to the prefix
FONS0005 the base URI is not known
FOQM0001 the module address is empty
FOQM0002 the module cannot be found
FOQM0003 the module is not valid
FOQM0005 the parameter does not have the required type
FOQM0006 no processor for the module is available
FORG0001 the value is not valid for the type
FORG0002 the value is not a valid URI
FORG0003 zero-or-one: the sequence has more than one item
FORG0004 one-or-more: the sequence is empty
FORG0005 exactly-one: the sequence must have one item
FORG0006 the argument does not have the required type
FORG0008 both arguments have a time zone, and they differ
FORG0009 the relative address cannot be resolved
FORG0010 the string is not a date in IETF form
FORX0001 the flags of the regular expression are not valid
FORX0002 the regular expression is not valid
FORX0003 the regular expression matches the empty string
FORX0004 the replacement string is not valid
FOTY0012 the node has no typed value
FOTY0013 a function cannot be atomised
FOTY0014 a function has no string value
FOTY0015 deep-equal cannot compare functions
FOUT1170 the address of the text is not valid
FOUT1190 the text cannot be decoded
FOUT1200 the encoding of the text cannot be determined
FOXT0001 no suitable XSLT processor is available
FOXT0002 the parameters of the transformation are not valid
FOXT0003 the transformation failed
FOXT0004 transformations are switched off
FOXT0006 the output of the transformation cannot be delivered
SENR0001 an attribute, namespace or function cannot be serialised on its own
SEPM0004 standalone and doctype-system need a single element
SEPM0009 omit-xml-declaration contradicts standalone or version
SEPM0010 undeclare-prefixes needs XML 1.1
SEPM0016 the value of the serialisation parameter is not valid
SEPM0017 the serialisation parameters are not valid
SEPM0018 a character is mapped twice
SEPM0019 the serialisation parameter is given twice
SERE0003 the result is not a well-formed document
SERE0005 the result holds a name that is not valid
SERE0006 the result holds a character that XML does not have
SERE0008 the character is not in the encoding of the output
SERE0012 the normalised result is not valid
SERE0014 the character is not allowed in HTML
SERE0015 a processing instruction in HTML must not contain >
SERE0020 the number has no form in JSON
SERE0021 the value has no form in JSON
SERE0022 the JSON object would have a key twice
SERE0023 JSON has no form for a sequence of several items
SESU0007 the encoding is not supported
SESU0011 the normalisation form is not supported
SESU0013 the version is not supported
XSCD0001 the query recurses too deeply
XSCD0002 a function registered from Python failed
XSCD0003 the query exceeds a limit
XSCK0001 Spark failed
XSCB0001 internal error: a bug in xstreamcast
"""

_INPUT: Final = """
XSCX0001 the input is not well-formed XML
XSCX0002 the bytes do not fit the encoding
XSCX0003 the encoding is not known
XSCX0004 the input ends too early
XSCX0005 the namespaces of the input are not well-formed
XSCX0006 external entities and DTDs are never fetched
XSCX0007 the input cannot be read as a stream
XSCX0008 the input is not XML
XSCX0101 the elements are nested too deeply
XSCX0102 the name is too long
XSCX0103 the element has too many attributes
XSCX0104 entities expand to too much text
XSCX0105 the document is too large
XSCF0001 the fragment is not well-formed XML
XSCF0002 the fragment has no id
XSCF0003 the fragment's tag is not in the tag structure
XSCF0004 the payload is not an element of the fragment's tag
XSCF0005 the fragment must have one element as its payload
XSCF0006 the valid time is neither a dateTime nor a date
XSCF0007 the fragment contains itself
XSCF0008 the hole has no id, or a tag that is not in the tag structure
XSCF0009 elements of this tag are not fragments
XSCF0010 no tag structure has arrived
XSCF0011 the stream had already ended
XSCF0012 this is not a fragment
XSCF0013 the valid time is too far ahead
XSCF0014 the fragment is too late
XSCF0015 dropped parts of the stream are needed
XSCF0016 text between fragments is part of none
XSCC0001 the change is invalid, or does not match the answer so far
XSCE0001 this is not an update event
XSCE0002 there is no such stream or region
XSCE0003 the end does not match the beginning
XSCE0004 the region is frozen
XSCE0005 the region must have ended, or must not have
XSCE0006 the content of the event is not XML
XSCE0007 the update stream is not a document
XSCM0002 the message is not well-formed XML
XSCM0003 the unit has no key
XSCM0004 the time is invalid
XSCM0005 the version is not an integer
XSCM0006 an expression of the mapping fails
XSCT0001 the tag structure is invalid
XSCT0002 the tag structure contradicts the one before it
XSCT0003 the document does not fit the tag structure
"""

_USAGE: Final = """
XSCU0001 the command line is invalid
XSCU0002 there is no such command
XSCU0003 the input cannot be opened
XSCU0004 the output cannot be written
XSCU0005 an argument is invalid
XSCU0006 a required package is not installed
XSCU0007 the mapping is invalid
XSCU0008 the request is invalid
"""


def _rows(table: str, kind: type[Error]) -> dict[str, tuple[type[Error], str]]:
    """The rows of one part of the table: code, then its sentence."""
    split = (row.partition(" ") for row in table.strip().splitlines())
    return {code: (kind, sentence) for code, _, sentence in split}


STATIC: Final = frozenset(_rows(_STATIC, QueryError))
CODES: Final[dict[str, tuple[type[Error], str]]] = (
    _rows(_STATIC, QueryError)
    | _rows(_DYNAMIC, QueryError)
    | _rows(_INPUT, InputError)
    | _rows(_USAGE, UsageError)
)
