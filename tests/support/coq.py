"""Evaluates hypotheses of the machine-checked theorems, as their sources state them.

A hypothesis is read from the Coq text itself, with the definitions it uses, and decided on given
numbers: ``forall`` and ``exists`` run over the numbers below a bound. Naturals are ints, whose
difference is never negative, and rationals are fractions.
"""

import operator
import re
from fractions import Fraction
from functools import cache, partial

import check_proofs as check

TOKEN = re.compile(
    r"\s*(\[&&|\.\+1|\.\+2|\.-1|%:R|%N|\^-1|\^\+|%/|%%|->|<=|:=|\|\||&&|==|[A-Za-z_][\w']*(?:\.[A-Za-z]\w*)*"
    r"|\d+|[-+*/<=(),\]&:])"
)
WORDS = {"then", "else", "in", "is"}
RELATIONS = {"<=": operator.le, "<": operator.lt, "=": operator.eq, "==": operator.eq}
CLOSED = {"minn": min, "maxn": max, "Num.max": max, "Num.min": min}


def minus(left, right):
    """Return the difference; of naturals, 0 where it would be negative."""
    return max(left - right, 0) if type(left) is type(right) is int else left - right


OPERATIONS = {
    "+": operator.add,
    "-": minus,
    "*": operator.mul,
    "/": lambda left, right: Fraction(left) / right,
    "%/": lambda left, right: left // right if right else 0,
    "%%": lambda left, right: left % right if right else left,
    "^+": operator.pow,
}

MARKS = {
    ".+1": lambda x: x + 1,
    ".+2": lambda x: x + 2,
    ".-1": lambda x: minus(x, 1),
    "%:R": Fraction,
    "%N": lambda x: x,
    "^-1": lambda x: 1 / Fraction(x),
}


def tokens(text):
    found, place = [], 0
    text = text.strip()
    while place < len(text):
        word = TOKEN.match(text, place)
        if word is None:
            raise SyntaxError(text[place : place + 30])
        found.append(word[1])
        place = word.end()
    return found


class Expression:
    """One expression of Coq, read once: a function of an environment."""

    def __init__(self, text, bound):
        self.left, self.bound = tokens(text)[::-1], bound
        self.value = self.quantified()
        assert not self.left, self.left

    def peek(self):
        return self.left[-1] if self.left else None

    def take(self, *expected):
        word = self.left.pop()
        assert not expected or word in expected, (word, expected)
        return word

    def quantified(self):
        word = self.peek()
        if word in {"forall", "exists"}:
            decide = all if self.take() == "forall" else any
            names = []
            while self.peek() != ",":
                names.append(self.take())
            self.take(",")
            inner = self.quantified()
            for name in reversed(names):
                inner = partial(self.over, decide, name, inner)
            return inner
        if word == "let":
            self.take()
            name = self.take()
            self.take(":=")
            given = self.quantified()
            self.take("in")
            inner = self.quantified()
            return lambda env: inner({**env, name: given(env)})
        if word == "if":
            return self.condition()
        left = self.chain(0)
        if self.peek() != "->":
            return left
        self.take()
        right = self.quantified()
        return lambda env: not left(env) or right(env)

    def over(self, decide, name, inner, env):
        return decide(inner({**env, name: value}) for value in range(self.bound))

    def condition(self):
        self.take("if")
        test, name = self.chain(0), None
        if self.peek() == "is":
            self.take()
            name = self.take()
            self.take(".+1")
        self.take("then")
        yes = self.quantified()
        self.take("else")
        no = self.quantified()
        if name is None:
            return lambda env: yes(env) if test(env) else no(env)
        return lambda env: yes({**env, name: test(env) - 1}) if test(env) else no(env)

    LEVELS = (("||",), ("&&",), ("<=", "<", "=", "=="), ("+", "-"), ("*", "/", "%/", "%%"), ("^+",))

    def chain(self, level):
        if level == len(self.LEVELS):
            return self.applied()
        terms, signs = [self.chain(level + 1)], []
        while self.peek() in self.LEVELS[level]:
            signs.append(self.take())
            is_condition = self.peek() == "if"
            terms.append(self.condition() if is_condition else self.chain(level + 1))
        if not signs:
            return terms[0]
        return partial(self.joined, terms, signs)

    def joined(self, terms, signs, env):
        if signs[0] in {"||", "&&"}:
            return (any if signs[0] == "||" else all)(term(env) for term in terms)
        values = [term(env) for term in terms]
        if signs[0] in RELATIONS:
            pairs = zip(signs, values, values[1:], strict=False)
            return all(RELATIONS[sign](low, high) for sign, low, high in pairs)
        total = values[0]
        for sign, value in zip(signs, values[1:], strict=True):
            total = OPERATIONS[sign](total, value)
        return total

    def applied(self):
        function, given = self.marked(), []
        while (word := self.peek()) and (
            word in {"(", "[&&"} or (word[0].isalnum() and word not in WORDS)
        ):
            given.append(self.marked())
        if not given:
            return function
        return lambda env: call(function(env), [value(env) for value in given])

    def marked(self):
        value = self.atom()
        while self.peek() in MARKS:
            value = partial(self.mark, MARKS[self.take()], value)
        return value

    def mark(self, mark, value, env):
        return mark(value(env))

    def atom(self):
        word = self.take()
        if word == "(":
            inner = self.quantified()
            self.take(")")
            return inner
        if word == "[&&":
            parts = [self.quantified()]
            while self.take(",", "&", "]") != "]":
                parts.append(self.quantified())
            return lambda env: all(part(env) for part in parts)
        if word.isdigit():
            return lambda _: int(word)
        constants = {"true": True, "false": False}
        return lambda env: constants[word] if word in constants else env[word]


def call(function, given):
    """Apply a function to some of its arguments, or to all."""
    needed = getattr(function, "needs", len(given))
    if len(given) == needed:
        return function(*given)
    rest = partial(function, *given)
    rest.needs = needed - len(given)
    return rest


NAMED = re.compile(r"(Definition|Fixpoint|Theorem)\s+(\w+)\s*(.*)", re.DOTALL)


@cache
def definitions(*files):
    """Return every definition of these: its sections, their variables, arguments and body."""
    found = {}
    for file in files:
        sections = [(file, ())]
        text = check.without_comments((check.FOLDER / file).read_text())
        imports = re.findall(r"From dproo Require Import ([^.]*)\.", text)
        found |= definitions(*(f"{name}.v" for name in " ".join(imports).split()))
        for sentence in map(str.strip, check.SENTENCE.findall(text)):
            kind, rest = [*sentence.split(maxsplit=1), ""][:2]
            if kind == "Section":
                sections.append((f"{rest} {len(found)}", ()))
            elif kind == "End":
                sections.pop()
            elif kind in {"Variable", "Variables"}:
                name, variables = sections[-1]
                sections[-1] = name, (*variables, *_arguments(rest))
            elif named := NAMED.match(sentence):
                head, _, body = named[3].partition(":=")
                path = tuple(name for name, _ in sections)
                outer = [name for _, variables in sections for name in variables]
                found[named[2]] = path, outer, _arguments(head), body
    return found


def _arguments(text):
    groups = re.findall(r"\(([^:()]+):", text) or [text.partition(":")[0]]
    return [name for group in groups for name in group.split()]


def evaluate(theorem, hypothesis, numbers, *, bound):
    """Decide a hypothesis of a theorem on these numbers, by what its source says."""
    known = definitions(theorem.file)

    def seen_from(path, values):
        """Return what a text in these sections sees: definitions of closed ones need more."""
        env = {**CLOSED, **values}
        return env | {name: defined(name, path, env) for name in known if name not in values}

    def defined(name, path, env):
        own, outer, arguments, body = known[name]
        is_open = path[: len(own)] == own
        words = {*re.findall(r"[\w']+", body)}
        names = [*(() if is_open else (v for v in outer if v in words)), *arguments]

        def run(*given):
            local = dict(zip(names, given, strict=True))
            values = {**numbers, **{v: env[v] for v in outer if v in env}, **local}
            return _read(body, bound).value(seen_from(own, values))

        run.needs = len(names)
        return run

    text = theorem.hypotheses[hypothesis].partition(":")[2].rstrip(".")
    return _read(text, bound).value(seen_from(known[theorem.name][0], numbers))


@cache
def _read(text, bound):
    return Expression(text, bound)


def cases(file, name):
    """Return what a definition by cases says of each constructor, as text."""
    body = definitions(file)[name][3]
    return dict(re.findall(r"\|\s*(\w+)[^=|]*=>\s*(.*?)(?=\s*\||\s*end\b)", body, re.DOTALL))


def value(text, numbers):
    """Return what an expression says on these numbers."""
    return _read(text, 1).value({**CLOSED, **numbers})
