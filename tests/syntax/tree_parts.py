"""Generated parts of trees: names, types, clauses and declarations."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import strategies as st

from xstreamcast.syntax import tree as t
from xstreamcast.syntax.grammar.calls import RESERVED

# Words that mean something elsewhere in the language are the names most worth trying.
LOCALS = [
    *("a", "b-c", "é", "Q", "now", "start", "last", "now-PT1H", "P1D", "PT1H", "for", "let", "if"),
    *(
        "some",
        "try",
        "validate",
        "element",
        "text",
        "node",
        "document",
        "map",
        "function",
        "return",
    ),
    *(
        "div",
        "and",
        "or",
        "to",
        "before",
        "contains",
        "declare",
        "newstart",
        "set",
        "forseq",
        "end",
    ),
    *("item", "default", "ordered", "namespace", "switch", "import", "array", "case", "in", "at"),
]
URIS = ["", "http://example.org/a", "urn:a b", "urn:a&b", "urn:{}"]

locals_ = st.sampled_from(LOCALS)
prefixes = st.sampled_from(["", "", "", "p", "now", "xs"])
lexical_names = st.builds(t.Name, locals_, prefixes)
names = lexical_names | st.builds(t.Name, locals_, uri=st.sampled_from(URIS))
maybe_names = st.none() | names
function_names = names.filter(
    lambda n: bool(n.prefix) or n.uri is not None or n.local not in RESERVED
)
characters = st.sampled_from(list("abc &<>{}\"'`#[](:)-\n\t\r;é\U0001f600"))
texts = st.text(characters, max_size=6)
plain = st.text(st.sampled_from(list("ab{<&\"'é ")), max_size=5)
targets = st.sampled_from(["a", "now", "element", "return", "p-q"])

axes = st.sampled_from(sorted(set(get_args(t.Axis)) - {"namespace"}))
names_tests: st.SearchStrategy[Any] = st.one_of(
    st.builds(t.NameTest, names),
    st.just(t.AnyName()),
    st.builds(t.AnyLocal, st.sampled_from(["p", "now"])),
    st.builds(t.AnyLocal, uri=st.sampled_from(URIS)),
    st.builds(t.AnyNamespace, locals_),
)
element_tests = st.one_of(
    st.builds(t.ElementTest, maybe_names),
    st.builds(t.ElementTest, maybe_names, names, st.booleans()),
)
kind_tests: st.SearchStrategy[Any] = st.one_of(
    st.just(t.AnyKindTest()),
    st.just(t.TextTest()),
    st.just(t.CommentTest()),
    st.builds(t.PITest, st.none() | st.sampled_from(["a", "x y"])),
    st.builds(t.DocumentTest, st.none() | element_tests | st.builds(t.SchemaElementTest, names)),
    element_tests,
    st.builds(t.AttributeTest, maybe_names, maybe_names),
    st.builds(t.SchemaElementTest, names),
    st.builds(t.SchemaAttributeTest, names),
)
node_tests = names_tests | kind_tests


def _types(item: Any) -> Any:
    return st.builds(t.TypeExpr, item, st.sampled_from(["", "?", "*", "+"]))


def _compound(item: Any) -> Any:
    inner = _types(item)
    return st.one_of(
        st.builds(t.FunctionTest, parameters=st.lists(inner, max_size=2).map(tuple), result=inner),
        st.builds(t.MapTest, st.builds(t.NamedType, names), inner),
        st.builds(t.ArrayTest, inner),
    )


simple_items = st.one_of(
    st.just(t.AnyItemTest()),
    st.builds(t.NamedType, names),
    st.just(t.FunctionTest()),
    st.just(t.MapTest()),
    st.just(t.ArrayTest()),
    kind_tests | st.just(t.NamespaceNodeTest()),
)
item_types = st.recursive(simple_items, _compound, max_leaves=3)
sequence_types = _types(item_types) | st.just(t.TypeExpr(None))
single_types = st.builds(t.SingleType, names, st.booleans())
endless = st.builds(t.TypeExpr, item_types, st.just("**"))
declared_types = st.none() | sequence_types | endless
parameters = st.lists(
    st.builds(t.Param, names, declared_types), max_size=2, unique_by=lambda p: p.name
).map(tuple)
pragmas = st.builds(t.Pragma, names, plain.map(str.lstrip))
bound = st.lists(
    st.builds(t.NamespaceAttribute, st.sampled_from(["", "p", "q"]), st.just("urn:a&b")),
    max_size=2,
    unique_by=lambda n: n.prefix,
).map(tuple)


MaybeVariable = t.WindowVariable | None


@st.composite
def windows(draw: Any, e: Any) -> t.WindowClause:
    fresh = iter(draw(st.lists(names, min_size=9, max_size=9, unique=True)))
    order = draw(st.sampled_from(["first", "last"]))
    kinds = ["tumbling", "sliding"] + (["landmark", "general"] if order == "last" else [])
    kind = draw(st.sampled_from(kinds))

    def variable() -> t.WindowVariable | None:
        typed = declared_types if order == "last" else st.none()
        return t.WindowVariable(next(fresh), draw(typed)) if draw(st.booleans()) else None

    def variables() -> tuple[MaybeVariable, MaybeVariable, MaybeVariable, MaybeVariable]:
        return variable(), variable(), variable(), variable()

    head = (kind, order, next(fresh), draw(declared_types), draw(e))
    if kind == "general":
        return t.WindowClause(*head, None, None)
    start = t.WindowStart(*variables(), draw(e))
    if (kind, order) == ("tumbling", "first") and draw(st.booleans()):
        return t.WindowClause(*head, start, None)
    when = draw(e | st.just(t.NewStart())) if order == "last" else draw(e)
    return t.WindowClause(*head, start, t.WindowEnd(draw(st.booleans()), *variables(), when))


def flwors(e: Any) -> Any:
    """A binding clause first, then any."""
    initial = st.one_of(
        st.builds(t.ForClause, names, declared_types, st.booleans(), st.none(), e),
        st.builds(t.ForClause, st.just(t.Name("i")), declared_types, st.booleans(), names, e),
        st.builds(t.LetClause, names, declared_types, e),
        windows(e),
    )
    collations = st.none() | st.sampled_from(URIS)
    group_key = st.one_of(
        st.builds(t.GroupingSpec, names, st.none(), st.none(), collations),
        st.builds(t.GroupingSpec, names, declared_types, e, collations),
    )
    empties = st.sampled_from([None, "greatest", "least"])
    order_key = st.builds(t.OrderSpec, e, st.booleans(), empties, collations)
    later = st.one_of(
        initial,
        st.builds(t.WhereClause, e),
        st.builds(t.GroupByClause, st.lists(group_key, min_size=1, max_size=2).map(tuple)),
        st.builds(
            t.OrderByClause, st.booleans(), st.lists(order_key, min_size=1, max_size=2).map(tuple)
        ),
        st.builds(t.CountClause, names),
    )
    clauses = st.tuples(initial, st.lists(later, max_size=3)).map(lambda c: (c[0], *c[1]))
    return st.builds(t.Flwor, clauses, e)


versions = st.none() | st.builds(
    t.VersionDecl, st.sampled_from(["1.0", "3.0", "3.1"]), st.none() | st.just("utf-8")
)
_settings = st.lists(
    st.one_of(
        st.builds(t.BoundarySpaceDecl, st.booleans()),
        st.builds(t.DefaultCollationDecl, st.sampled_from(URIS)),
        st.builds(t.BaseUriDecl, st.sampled_from(URIS)),
        st.builds(t.ConstructionDecl, st.booleans()),
        st.builds(t.OrderingModeDecl, st.booleans()),
        st.builds(t.EmptyOrderDecl, st.booleans()),
        st.builds(t.CopyNamespacesDecl, st.booleans(), st.booleans()),
        st.builds(t.DefaultNamespaceDecl, st.sampled_from(["element", "function"]), st.just("u")),
        st.builds(t.NamespaceDecl, st.sampled_from(["p", "now"]), st.sampled_from(URIS)),
        st.builds(t.ModuleImport, st.none() | st.just("q"), st.just("urn:q"), st.just(("a.xq",))),
        st.just(t.DecimalFormatDecl(None, (("infinity", "&"), ("zero-digit", "\u0660")))),
        st.just(t.DecimalFormatDecl(t.Name("f"), (("decimal-separator", "·"),))),
    ),
    max_size=3,
    unique_by=type,
)
annotation_lists = st.lists(
    st.builds(t.Annotation, names, st.sampled_from([(), (t.StringLiteral('"'),)])).filter(
        lambda a: a.name.local not in ("public", "private")
    ),
    max_size=2,
).map(tuple)


def prologs(e: Any) -> Any:
    """Settings, the word that allows blocks, then the rest."""
    value = st.tuples(e, st.booleans()) | st.just((None, True))
    variable = st.builds(
        lambda marks, name, type_, given: t.VariableDecl(marks, name, type_, *given),
        *(annotation_lists, names, declared_types, value),
    )
    function = st.builds(
        t.FunctionDecl, annotation_lists, function_names, parameters, declared_types, st.none() | e
    )
    context = st.builds(
        lambda item, given: t.ContextItemDecl(item and t.TypeExpr(item), *given),
        *(st.none() | item_types, value),
    )
    option = st.builds(t.OptionDecl, names, texts)
    stream = st.builds(t.StreamDecl, locals_, e)
    later = st.tuples(*(st.none() | d for d in (variable, function, context, option, stream)))
    return st.tuples(_settings, later).map(
        lambda p: (*p[0], t.ExecutionDecl(), *(d for d in p[1] if d))
    )
