"""The functions on strings of section 17.4.3, hashes, and those that build or take apart terms."""

from __future__ import annotations

from collections.abc import Callable

from pyoxigraph import Literal, NamedNode

from millstream.language.translation.iris import resolve
from millstream.operators.expressions.bounds import Bounds
from millstream.operators.expressions.values.values import (
    INTEGER,
    IRI,
    LANGUAGE_TYPES,
    STRING,
    ExpressionError,
    Value,
    boolean,
    integer,
    iri,
    literal,
    string,
)


def _literal_of(value: Value) -> str:
    """The text of what must be a string literal, with or without language."""
    if not value.is_string:
        raise ExpressionError
    return str(value.value)


def _simple(value: Value) -> str:
    """The text of what must be a string without language."""
    if value.space != STRING:
        raise ExpressionError
    return str(value.value)


def _compatible(left: Value, right: Value) -> tuple[str, str]:
    """Section 17.4.3.1.2: the second argument has no language or the first one's."""
    texts = _literal_of(left), _literal_of(right)
    if right.language and right.language != left.language:
        raise ExpressionError
    return texts


# Terms.


def str_(value: Value) -> Value:
    if not value.is_literal and value.space != IRI:
        raise ExpressionError
    return string(value.lexical)


def lang(value: Value) -> Value:
    if not value.is_literal:
        raise ExpressionError
    return string(value.language)


def datatype(value: Value) -> Value:
    if not value.is_literal:
        raise ExpressionError
    return iri(value.datatype)


def make_iri(value: Value, base: str | None) -> Value:
    """IRI(): a relative reference needs a base."""
    if value.space == IRI:
        return value
    reference = _simple(value)
    try:
        return iri(NamedNode(reference if base is None else resolve(base, reference)).value)
    except ValueError:
        raise ExpressionError from None


def strdt(bounds: Bounds, value: Value, datatype_iri: Value) -> Value:
    lexical = _simple(value)
    if datatype_iri.space != IRI or datatype_iri.value in LANGUAGE_TYPES:
        raise ExpressionError
    bounds.check_text(lexical, datatype_iri.value)
    return literal(lexical, datatype_iri.value)


def strlang(bounds: Bounds, value: Value, language: Value) -> Value:
    lexical, tag = _simple(value), _simple(language)
    bounds.check_text(lexical, tag)
    try:
        checked = Literal(lexical, language=tag).language
    except ValueError:
        raise ExpressionError from None
    return string(lexical, checked or "")


def lang_matches(tag: Value, language_range: Value) -> Value:
    """Basic filtering of RFC 4647."""
    found, wanted = _simple(tag).lower(), _simple(language_range).lower()
    if wanted == "*":
        return boolean(found != "")
    return boolean(found == wanted or found.startswith(wanted + "-"))


# Strings.


def strlen(value: Value) -> Value:
    return integer(len(_literal_of(value)))


def substr(source: Value, start: Value, length: Value | None = None) -> Value:
    """Characters count from 1; what lies outside of the string is left out."""
    text = _literal_of(source)
    if start.space != INTEGER or (length is not None and length.space != INTEGER):
        raise ExpressionError
    first = start.value - 1
    last = len(text) if length is None else first + length.value
    return string(text[max(first, 0) : max(last, 0)], source.language)


def ucase(bounds: Bounds, value: Value) -> Value:
    return _bounded(bounds, _literal_of(value).upper(), value.language)


def lcase(bounds: Bounds, value: Value) -> Value:
    return _bounded(bounds, _literal_of(value).lower(), value.language)


def _bounded(bounds: Bounds, text: str, language: str = "") -> Value:
    """A string that can only be a few times as long as what it was made of."""
    bounds.check_text(text)
    return string(text, language)


def strstarts(left: Value, right: Value) -> Value:
    text, part = _compatible(left, right)
    return boolean(text.startswith(part))


def strends(left: Value, right: Value) -> Value:
    text, part = _compatible(left, right)
    return boolean(text.endswith(part))


def contains(left: Value, right: Value) -> Value:
    text, part = _compatible(left, right)
    return boolean(part in text)


def strbefore(left: Value, right: Value) -> Value:
    """Without a match, the empty string without a language."""
    text, part = _compatible(left, right)
    at = text.find(part)
    return string(text[:at], left.language) if at >= 0 else string("")


def strafter(left: Value, right: Value) -> Value:
    text, part = _compatible(left, right)
    at = text.find(part)
    return string(text[at + len(part) :], left.language) if at >= 0 else string("")


def encode_for_uri(bounds: Bounds, value: Value) -> Value:
    from urllib.parse import quote

    text = _literal_of(value)
    bounds.check_text(text)
    return _bounded(bounds, quote(text, safe="-_.~"))


def concat(bounds: Bounds, *values: Value) -> Value:
    """The language stays if all have the same one."""
    texts = [_literal_of(v) for v in values]
    bounds.check_text(*texts)
    languages = {v.language for v in values}
    return string("".join(texts), languages.pop() if len(languages) == 1 else "")


def regex_(bounds: Bounds, text: Value, pattern: Value, flags: Value | None = None) -> Value:
    from millstream.operators.expressions.regex import regex  # With RE2, which most queries do without.

    subject, compiled = _literal_of(text), regex.compiled(_simple(pattern), "" if flags is None else _simple(flags))
    return boolean(compiled.matches(subject, bounds))


def replace(bounds: Bounds, text: Value, pattern: Value, replacement: Value, flags: Value | None = None) -> Value:
    from millstream.operators.expressions.regex import regex

    replaced = regex.replace(
        _literal_of(text), _simple(pattern), _simple(replacement), "" if flags is None else _simple(flags), bounds
    )
    return string(replaced, text.language)


def hash_function(name: str) -> Callable[[Value], Value]:
    """MD5, SHA1, ...: the digest of the UTF-8 bytes, in hexadecimal."""
    algorithm = name.lower()

    def function(value: Value) -> Value:
        import hashlib  # With OpenSSL, which most queries do without.

        return string(hashlib.new(algorithm, _simple(value).encode(), usedforsecurity=False).hexdigest())

    return function
