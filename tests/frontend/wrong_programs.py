"""Programs that are no kernels, with the place and the words of their errors.

Each case is a source text in which « and » stand around what the caret must mark; the texts after
it are parts of the message and of the hint.
"""

from __future__ import annotations

from dataclasses import dataclass

HEAD = """\
from __future__ import annotations
import builtins
import math
import numpy as np
from typing import NamedTuple
from dynamis.frontend import surface as dy
from dynamis.frontend.surface import *
"""


@dataclass(frozen=True)
class Wrong:
    """A wrong program: its name, its text, parts of the message and of the hint."""

    name: str
    text: str
    message: str
    hint: str


def body(name: str, lines: str, message: str, hint: str) -> Wrong:
    """A case whose kernel takes a grid of vec4, an i32 and an f32 and gives a grid of f32."""
    head = "def kernel(image: Grid[vec4], n: i32 = 1, x: f32 = 2.0) -> Grid[f32]:\n"
    return Wrong(name, head + "".join(f"    {line}\n" for line in lines.split("\n")), message, hint)


CASES = [
    # f64
    Wrong(
        "f32 beside f64",
        "def kernel(a: Rows[f64], x: f32 = 1.0) -> Rows[f64]:\n    return «a.sample() * x»\n",
        "* cannot combine f64 and f32",
        "f64(x)",
    ),
    Wrong(
        "i32 beside f64",
        "def kernel(a: Rows[f64], n: i32 = 1) -> Rows[f64]:\n    return «n - a.sample()»\n",
        "- cannot combine i32 and f64",
        "f64(n)",
    ),
    Wrong(
        "f64 beside a vector",
        "def kernel(a: Grid[f64]) -> Grid[vec2]:\n    return «dy.coord() * a.sample()»\n",
        "* cannot combine vec2 and f64",
        "f32(a.sample())",
    ),
    Wrong(
        "f64 compared with f32",
        "def kernel(a: Rows[f64], x: f32 = 1.0) -> Rows[bool]:\n    return «x < a.sample()»\n",
        "< cannot compare f32 and f64",
        "f64(x)",
    ),
    Wrong(
        "min of f64 and f32",
        "def kernel(a: Rows[f64], x: f32 = 1.0) -> Rows[f64]:\n    return min(a.sample(), «x»)\n",
        "min does not take (f64, f32)",
        "f64(x)",
    ),
    Wrong(
        "fma of an f64 and an i32",
        "def kernel(a: Rows[f64], n: i32 = 1) -> Rows[f64]:\n    return fma(a.at(0), «n», 1.0)\n",
        "fma does not take (f64, i32, f64)",
        "f64(n)",
    ),
    Wrong(
        "an f64 into a vector",
        "def kernel(a: Grid[f64]) -> Grid[vec2]:\n    return vec2(1.0, «a.sample()»)\n",
        "vec2 is made of f32",
        "f32(a.sample())",
    ),
    Wrong(
        "f64 into an f32 name",
        "def kernel(a: Rows[f64]) -> Rows[f64]:\n    t = 0.0\n    «t += a.at(0)»\n    return t\n",
        "t is f32, += would make it f64",
        "t: f64 = 0.0",
    ),
    Wrong(
        "f64 returned as f32",
        "def kernel(a: Rows[f64]) -> Rows[f32]:\n    return «a.sample()»\n",
        "must be f32",
        "f32(a.sample())",
    ),
    Wrong(
        "bits of an f64",
        "def kernel(a: Rows[f64]) -> Rows[i32]:\n    return dy.bits(«a.sample()»)\n",
        "bits does not take (f64)",
        "f32(a.sample())",
    ),
    Wrong(
        "shift of an f64",
        "def kernel(a: Rows[f64]) -> Rows[i32]:\n    return «a.sample() << 1»\n",
        "<< cannot combine f64 and i32",
        "i32(x)",
    ),
    Wrong(
        "an f64 address",
        "def kernel(a: Rows[f64]) -> Rows[f64]:\n    return a.at(«a.sample()»)\n",
        "an address in a is i32",
        "i32(a.sample())",
    ),
    Wrong(
        "vectors of f64",
        "def kernel(a: Rows[f64]) -> Rows[f32]:\n    return dy.length(vec2(«a.sample()»))\n",
        "vec2 is made of f32",
        "f32(a.sample())",
    ),
    Wrong(
        "a number past f32",
        "def kernel(a: Rows[f64]) -> Rows[f32]:\n    return «1e300»\n",
        "does not fit in f32",
        "f64(1e+300)",
    ),
    Wrong(
        "a default past f32",
        "def kernel(a: Rows[f64], x: f32 = «1e300») -> Rows[f64]:\n    return a.sample()\n",
        "does not fit in f32",
        "x: f32 = 0.0",
    ),
    # Names
    body("unknown name", "return «radus»", "unknown name radus", ""),
    body("misspelt name", "radius = 1.0\nreturn «radus» + x", "unknown name radus", "radius"),
    body(
        "misspelt attribute", "return dy.«lenght»(image.sample())", "dy has no lenght", "dy.length"
    ),
    body("misspelt bare function", "return «smothstep»(0, 1, x)", "unknown name", "smoothstep"),
    body(
        "unassigned on a path",
        "if n > 0:\n    y = 1.0\nreturn x + «y»",
        "y may have no value here",
        "give y a value before",
    ),
    body(
        "unassigned after a loop that may not run",
        "for i in range(n):\n    y = x\nreturn «y»",
        "y may have no value here",
        "y = …",
    ),
    body("used before it is assigned", "z = «y» + 1.0\ny = z\nreturn y", "no value here", "y = …"),
    Wrong(
        "array constant",
        "TABLE = np.zeros(4)\ndef kernel(x: f32 = 1.0) -> Grid[f32]:\n    return x + «TABLE»\n",
        "TABLE cannot be used as a value",
        "pass arrays as inputs",
    ),
    Wrong(
        "list constant",
        "W = [1.0, 2.0]\ndef kernel(n: i32 = 1) -> Grid[f32]:\n    return «W»[n]\n",
        "W cannot be used as a value",
        "Rows",
    ),
    body(
        "function as a value", "return «math.sqrt» + x", "math.sqrt cannot be used", "math.sqrt(…)"
    ),
    # Types
    body("mixed arithmetic", "return «x * n»", "* cannot combine f32 and i32", "f32(n)"),
    body(
        "mixed vector arithmetic",
        "c = «image.sample() * ivec4(n)»\nreturn c.x",
        "*",
        "vec4(ivec4(n))",
    ),
    body("vectors of two lengths", "c = «image.sample() + vec2(x)»\nreturn c.x", "+", "length"),
    body(
        "true division of ints", "return f32(«n / 2»)", "/ of two whole numbers", "n // 2 (floors)"
    ),
    body("bits of a float", "return «x << n»", "<<", "dy.bits(x)"),
    body(
        "condition that is no bool", "if «n»:\n    return 1.0\nreturn x", "must be a bool", "n != 0"
    ),
    body("not of a number", "return 1.0 if not «n» else x", "must be a bool", "n != 0"),
    body("and of a number", "return 1.0 if n > 0 and «x» else x", "must be a bool", "x != 0"),
    body("arms of two types", "return «x if n > 0 else n»", "must have one type", "f32(n)"),
    body("comparison of two types", "return 1.0 if «x < n» else x", "cannot compare", "f32(n)"),
    body(
        "order of vectors",
        "c = image.sample()\nreturn 1.0 if «c < c» else x",
        "cannot compare",
        "c.x",
    ),
    body(
        "a name of two types",
        "y = 0\n«y» = x\nreturn y",
        "y is i32 and cannot become f32",
        "y = 0.0",
    ),
    body(
        "an int that adds floats",
        "t = 0\n«t += x»\nreturn t",
        "t is i32, += would make it f32",
        "t = 0.0",
    ),
    body(
        "vector into a scalar",
        "t = 0.0\n«t += image.sample()»\nreturn t",
        "make it vec4",
        "vec4(0)",
    ),
    body("wrong result", "return «image.sample()»", "output out must be f32", "image.sample().x"),
    body("int result", "return «n»", "output out must be f32", "f32(n)"),
    body("sum of bools", "return f32(«(n > 1) + (x > 1)»)", "+ cannot combine bool", "i32(n > 1)"),
    body("minus of a bool", "return f32(«-(n > 1)»)", "- has no meaning on bool", "not n > 1"),
    body("annotated with another type", "y: i32 = «x»\nreturn x", "y must be i32", "i32(x)"),
    body("a literal too large", "return f32(n + «3000000000»)", "fit in i32", "3000000000.0"),
    body("bits too large", "return f32(n + «0xFFFFFFFF»)", "does not fit in i32", "-1, the i32"),
    body("a shift too large", "return f32(n + («1 << 31»))", "fit in i32", "-2147483648, the i32"),
    body("a power too large", "return f32(n + («2**31 + 1»))", "fit in i32", "2147483649.0"),
    body("a product too large", "y = «65536 * 65536»\nreturn x", "does not fit in i32", ".0"),
    body("a literal too large for a name", "y = «3000000000»\nreturn x", "fit in i32", ".0"),
    body("one of two literals too large", "y, z = 1, «3000000000»\nreturn x", "in i32", ".0"),
    body("a nested literal too large", "(y, z), w = (1, «-2**32»), n\nreturn x", "in i32", ".0"),
    body("a literal too large, annotated", "y: i32 = «2**31»\nreturn x", "fit in i32", ".0"),
    body("a literal too large, added", "n += «3000000000»\nreturn x", "fit in i32", ".0"),
    body("a literal too large for f32", "return x + «2**128»", "does not fit in f32", "math.inf"),
    body("a literal that rounds to infinity", "return x * («2**128 - 1»)", "f32", "math.inf"),
    body("a literal past all types", "return x + «2**99999999999»", "1024 bits", ""),
    body("a shift past all types", "return x + («1 << 99999999999»)", "1024 bits", ""),
    body("a product past all types", "return x + («2**400 << 800»)", "1024 bits", ""),
    body("a literal divided by zero", "y = 7 // «0»\nreturn x", "division by zero", "not 0"),
    body("a literal modulo zero", "y = 7 % («2 - 2»)\nreturn x", "by zero", "not 0"),
    body("a negative shift", "y = 8 << «-1»\nreturn x", "a negative count", "8 >> 1"),
    body("a negative power", "y = 8 ** «-1»\nreturn x", "no negative exponent", "1.0 / 8 ** 1"),
    body("in a tuple", "return 1.0 if «n in (1, 2)» else x", "in has no", "n == 1 or n == 2"),
    body("not in a list", "return 1.0 if «n not in [1, 2]» else x", "not in", "n != 1 and n != 2"),
    body("in an input", "return 1.0 if «x in image» else x", "in has no meaning", "x == "),
    body("is a number", "return 1.0 if «n is n» else x", "is has", "n == n"),
    body("a vector indexed by a value", "v = vec2(x)\nreturn «v[n]»", "subscripts", "v.x … v.y"),
    body("a vector indexed from its end", "v = vec3(x)\nreturn «v[2]»", "subscripts", "v.z"),
    body("a float shifted", "return «x << 2»", "<< cannot combine f32 and i32", "dy.bits(x)"),
    body("many of two kinds", "return dy.max(«n», 1, 2.0)", "does not take (i32, f32)", "f32(n)"),
    body("many of two kinds, late", "return dy.max(1.0, x, «n»)", "take (f32, i32)", "f32(n)"),
    body("an unknown name like no other", "return «qqqqq»", "unknown name", "qqqqq = …"),
    body("two results for one", "return «1.0, 2.0»", "returns f32", "return 1.0"),
    body("an input returned", "return «image»", "must be f32", "image.sample() is its element"),
    body("an f-string", "y = «f'{n}'»\nreturn x", "an f-string", "on the host"),
    body("a string", "y = «'n'»\nreturn x", "strings", "a number that stands for it"),
    body("two names for three", "«y, z» = vec3(x)\nreturn x", "2 names for 3", "y, z = vec3(x).xy"),
    body("three names for two", "«y, z, w» = 1, 2\nreturn x", "3 names for 2", "y, z = "),
    body("an i32 unpacked", "y, z = «n»\nreturn x", "i32 cannot be unpacked", "y, z = …, …"),
    body("a part of an i32", "return n.«x»", "i32 has no parts", "without the dot"),
    body(
        "a bool compared", "return x if «(n > 0) < True» else 0.0", "bool", "i32(n > 0) < i32(True)"
    ),
    body("a long swizzle of few", "v = vec2(x)\n«v.xx» = vec2(x)\nreturn x", "twice", "v.xy"),
    Wrong(
        "an input of another kind for a helper",
        "def f(a: Rows[f32]):\n    return a.at(0)\n"
        "def kernel(image: Grid[vec4]) -> Grid[f32]:\n    return f(«image»)\n",
        "the argument a of f must be a port of Rows[f32]",
        "",
    ),
    Wrong(
        "outputs of two shapes",
        "def kernel(x: f32 = 1.0) -> «tuple[Rows[f32], Grid[f32]]»:\n    return x, x\n",
        "all outputs have one shape",
        "a kernel for each shape",
    ),
    Wrong(
        "a default of another type",
        "def kernel(n: i32 = «0.5») -> Grid[f32]:\n    return f32(n)\n",
        "the default of n must be i32",
        "n: i32 = 0",
    ),
    Wrong(
        "a NamedTuple's literal too large",
        "class P(NamedTuple):\n    a: Grid[i32]\n    b: Grid[i32]\n"
        "def kernel(x: f32 = 1.0) -> P:\n    return P(1, «3000000000»)\n",
        "does not fit in i32",
        ".0",
    ),
    Wrong(
        "a positional-only argument",
        "def kernel(«image: Grid[f32]», /, n: i32 = 1) -> Grid[f32]:\n    return image.sample()\n",
        "image is positional-only",
        "without the /",
    ),
    Wrong(
        "a positional-only argument of a helper, by name",
        "def f(a, /):\n    return a\ndef kernel(x: f32 = 1.0) -> Grid[f32]:\n    return f(«a=x»)\n",
        "a of f is given by position only",
        "f(a)",
    ),
    Wrong(
        "a long chain of comparisons",
        "def kernel(x: f32 = 1.0) -> Grid[f32]:\n"
        f"    return 1.0 if {' < '.join(['x'] * 61)} < «x» < x else 0.0\n",
        "more than 60 comparisons",
        "a < b and b < c",
    ),
    body("a float literal too large", "return x * «1e40»", "does not fit in f32", "math.inf"),
    body("power of a variable", "return f32(2 ** «n»)", "takes a literal exponent", "1 << n"),
    body(
        "power dy.pow",
        "return f32(n ** «n»)",
        "** of whole numbers takes a literal exponent",
        "dy.pow(f32(n), f32(n))",
    ),
    body("power of a mixture", "return «x ** n»", "** cannot combine f32 and i32", "f32(n)"),
    body("sine of a whole number", "return dy.sin(«n»)", "sin does not take (i32)", "f32(n)"),
    body(
        "a logarithm to a base",
        "return math.log(x, «2.0»)",
        "log takes no base",
        "dy.log(x) / dy.log(2.0)",
    ),
    body("math.atan2 of a whole number", "return math.atan2(x, «n»)", "must be f32", "f32(n)"),
    # Vectors
    body("unknown component", "return image.sample().«q»", "vec4 has no component q", ".x"),
    body("component past the end", "return vec2(x).«z»", "vec2 has no component z", ".x"),
    body("mixed letters", "c = image.sample().«xg»\nreturn c.x", "no component xg", ".xy"),
    body("component of a scalar", "return x.«y»", "f32 has no parts", ""),
    body(
        "too many components",
        "c = «vec2(image.sample())»\nreturn c.x",
        "takes 2 components",
        "image.sample().xy",
    ),
    body("too few components", "c = «vec4(x, x)»\nreturn c.x", "takes 4 components", "vec2(…)"),
    body("float into ivec", "c = ivec2(«x», n)\nreturn f32(c.x)", "ivec2 is made of i32", "i32(x)"),
    body("index of a vector", "c = image.sample()\nreturn «c[1]»", "subscripts", "c.y"),
    body(
        "index of a port", "c = «image[n]»\nreturn c.x", "subscripts", "image.at(vec2(column, row))"
    ),
    body(
        "a component assigned twice",
        "c = image.sample()\n«c.xx» = vec2(x)\nreturn c.x",
        "twice",
        "",
    ),
    body(
        "unpacked into too few",
        "a, b = 1.0, 2.0\n«a, b» = image.sample()\nreturn a",
        "2 names for 4 values",
        "",
    ),
    # Calls
    body(
        "too few arguments",
        "return «dy.clamp(x, 0)»",
        "clamp takes 3 arguments, not 2",
        "clamp(x, low, high)",
    ),
    body("too many arguments", "return dy.sqrt(x, «x»)", "sqrt takes 1 argument, not 2", "sqrt(x)"),
    body("unknown keyword", "return dy.clamp(x, 0, «hi=1»)", "clamp has no argument hi", "high"),
    body("sqrt of an int", "return dy.sqrt(«n»)", "sqrt does not take (i32)", "f32(n)"),
    body("wrap of a float", "return f32(dy.add_wrap(n, «x»))", "add_wrap does not take", "i32(x)"),
    body("dot of scalars", "return «dy.dot(x, x)»", "dot does not take (f32, f32)", ""),
    body(
        "max of vectors",
        "c = «builtins.max(image.sample(), vec4(x))»\nreturn c.x",
        "no meaning on vectors",
        "dy.max(a, b)",
    ),
    body("print", "«print»(x)\nreturn x", "print cannot be called", "one more output"),
    body("a NumPy function", "return «np.sqrt»(x)", "np.sqrt cannot be called", "dy.sqrt"),
    body(
        "an unsupported math function",
        "return «math.gamma»(x)",
        "math.gamma cannot be called",
        "",
    ),
    body("a later function", "return f32(dy.«clz»(n))", "dy has no clz", "not in this version"),
    body("a value that is called", "return «x»(1)", "x is a value, not a function", ""),
    body(
        "a method of a vector",
        "return image.sample().«length»()",
        "has no method length",
        "dy.length",
    ),
    body("a port that is not read", "return x * «image»", "a value is needed", "image.sample()"),
    body(
        "unknown method of a port",
        "c = image.«smaple»()\nreturn c.x",
        "no method smaple",
        "image.sample",
    ),
    body(
        "linear at a number",
        "c = image.linear(«n»)\nreturn c.x",
        "address in image is vec2",
        "vec2(column, row)",
    ),
    body(
        "linear at two numbers",
        "c = image.linear(x, «n»)\nreturn c.x",
        "linear takes one address",
        "image.linear(vec2(x, n))",
    ),
    body(
        "linear as a value",
        "return image.«linear»",
        "a port has no value linear",
        "image.linear(p)",
    ),
    body(
        "two coordinates", "c = image.at(n, «n»)\nreturn c.x", "one address", "image.at(vec2(n, n))"
    ),
    body(
        "an int address in a grid",
        "c = image.at(«n»)\nreturn c.x",
        "address in image is vec2",
        "vec2(column, row)",
    ),
    body("shape of a port", "return image.«shape»", "no value shape", "image.size"),
    # Statements
    body(
        "try",
        "«try:»\n    y = x\nexcept ValueError:\n    y = x\nreturn y",
        "do not have try",
        "an if",
    ),
    body("with", "«with open('f'):»\n    pass\nreturn x", "do not have with", ""),
    body("raise", "«raise ValueError»", "do not have raise", "return a value"),
    body("assert", "«assert n > 0»\nreturn x", "do not have assert", "an if"),
    body("import", "«import math»\nreturn x", "do not have import", "top of the file"),
    body("global", "«global counter»\nreturn x", "do not have global", "return the value"),
    body("del", "y = x\n«del y»\nreturn x", "do not have del", ""),
    body(
        "inner function",
        "«def inner(): return 1»\nreturn x",
        "functions defined inside",
        "module level",
    ),
    body("inner class", "«class C: pass»\nreturn x", "do not have classes", "outside"),
    body(
        "match",
        "«match n:»\n    case 1:\n        return x\nreturn x",
        "do not have match",
        "if / elif",
    ),
    body("lambda", "f = «lambda y: y»\nreturn x", "do not have lambda", "def"),
    body("list", "f = «[x, x]»\nreturn x", "do not have a list", "vector"),
    body("dict", "f = «{}»\nreturn x", "do not have a dictionary", ""),
    body(
        "comprehension", "f = «[i for i in range(3)]»\nreturn x", "a list comprehension", "for loop"
    ),
    body("generator", "f = x + «(i for i in range(3))»\nreturn x", "a generator", "for loop"),
    body("string", "f = «'text'»\nreturn x", "do not have strings", ""),
    body("f-string", "f = «f'{x}'»\nreturn x", "an f-string", ""),
    body("walrus", "return («y := x») + y", ":=", "line of its own"),
    body("starred target", "a, «*b» = 1.0, 2.0, 3.0\nreturn a", "unpacking with *", ""),
    body("starred argument", "return dy.max(«*image.sample()»)", "unpacking with *", ""),
    body("slice assignment", "«x[0]» = 1.0\nreturn x", "x[0] cannot be assigned", "component"),
    body(
        "a tuple kept in a name", "p = «x, x»\nreturn x", "a tuple cannot be kept in p", "a, b = …"
    ),
    body("an input that is assigned", "«image» = x\nreturn x", "image is an input", "another name"),
    body(
        "loop over a port",
        "for c in «image»:\n    pass\nreturn x",
        "runs over range",
        "range(image.count)",
    ),
    body(
        "loop over a vector",
        "for c in «image.sample()»:\n    pass\nreturn x",
        "runs over range",
        "in range(…)",
    ),
    body("step of zero", "for i in range(0, 5, «0»):\n    pass\nreturn x", "step of 0", ""),
    body("float range", "for i in range(«x»):\n    pass\nreturn x", "must be i32", "i32(x)"),
    body("is None", "return 1.0 if x is «None» else x", "None", ""),
    body("in", "return 1.0 if «n in ivec2(n)» else x", "in has no meaning", "=="),
    body("empty return", "«return»", "return needs a value", "return the result"),
    # Signatures
    Wrong(
        "no return annotation",
        "def «kernel»(image: Grid[f32]):\n    return image.sample()\n",
        "does not say what it returns",
        "-> Grid[f32]",
    ),
    Wrong(
        "value type as output",
        "def kernel(image: Grid[f32]) -> «f32»:\n    return image.sample()\n",
        "out is not a port",
        "Grid[f32]",
    ),
    Wrong(
        "parameter without annotation",
        "def kernel(image: Grid[f32], «gain»=1.0) -> Grid[f32]:\n    return image.sample()\n",
        "gain has no annotation",
        "gain: f32 = …",
    ),
    Wrong(
        "parameter without default",
        "def kernel(image: Grid[f32], «gain: f32») -> Grid[f32]:\n    return image.sample()\n",
        "gain has no default",
        "gain: f32 = 0",
    ),
    Wrong(
        "mutable default",
        "def kernel(image: Grid[f32], c: vec2 = «[1, 2]») -> Grid[f32]:\n    return c.x\n",
        "the default of c must be vec2",
        "vec2(…)",
    ),
    Wrong(
        "default of another type",
        "def kernel(image: Grid[f32], n: i32 = «1.5») -> Grid[f32]:\n    return image.sample()\n",
        "the default of n must be i32",
        "",
    ),
    Wrong(
        "input with a default",
        "def kernel(image: Grid[f32] = «None») -> Grid[f32]:\n    return image.sample()\n",
        "image cannot have a default",
        "image: Grid[f32]",
    ),
    Wrong(
        "port of nothing",
        "def kernel(image: «Grid») -> Grid[f32]:\n    return image.sample()\n",
        "Grid of what?",
        "Grid[f32]",
    ),
    Wrong(
        "port of strings",
        "def kernel(image: «Grid[str]») -> Grid[f32]:\n    return image.sample()\n",
        "Grid holds values of one type",
        "",
    ),
    Wrong(
        "unknown annotation",
        "def kernel(image: «Gird[f32]») -> Grid[f32]:\n    return 1.0\n",
        "unknown name Gird",
        "Grid",
    ),
    Wrong(
        "parameter of another type",
        "def kernel(name: «str» = 'x') -> Grid[f32]:\n    return 1.0\n",
        "str is neither a port nor a value type",
        "",
    ),
    Wrong(
        "reserved name",
        "def kernel(image: Grid[f32], «threads»: i32 = 1) -> Grid[f32]:\n    return 1.0\n",
        "threads is an argument of every kernel call",
        "threads_",
    ),
    Wrong(
        "args",
        "def kernel(*«images: Grid[f32]») -> Grid[f32]:\n    return 1.0\n",
        "do not have *images",
        "name each parameter",
    ),
    Wrong(
        "outputs of two shapes",
        "def kernel(x: f32 = 1.0) -> «tuple[Grid[f32], Rows[f32]]»:\n    return x, x\n",
        "all outputs have one shape",
        "",
    ),
    Wrong(
        "too few results",
        "def kernel(x: f32 = 1.0) -> tuple[Grid[f32], Grid[f32]]:\n    return «x»\n",
        "kernel returns a tuple (f32, f32)",
        "",
    ),
    Wrong(
        "end without return",
        "def «kernel»(n: i32 = 1) -> Grid[f32]:\n    if n > 1:\n        return 1.0\n",
        "can reach its end without a return",
        "return …",
    ),
    Wrong(
        "no return",
        "def «kernel»(n: i32 = 1) -> Grid[f32]:\n    n += 1\n",
        "kernel returns nothing",
        "return …",
    ),
    Wrong(
        "float address in rows",
        "def kernel(a: Rows[f32], x: f32 = 1.0) -> Rows[f32]:\n    return a.at(«x»)\n",
        "address in a is i32",
        "i32(x)",
    ),
    Wrong(
        "an int between elements",
        "def kernel(a: Rows[f32], n: i32 = 1) -> Rows[f32]:\n    return a.linear(«n»)\n",
        "address in a is f32",
        "f32(n)",
    ),
    Wrong(
        "between ints",
        "def kernel(a: Volume[ivec2]) -> Volume[ivec2]:\n    return «a.linear(dy.coord())»\n",
        "linear() reads between floats, and a holds ivec2",
        "a.at(…), one element",
    ),
    Wrong(
        "a number in a volume",
        "def kernel(a: Volume[f32], x: f32 = 1.0) -> Volume[f32]:\n    return a.at(«x»)\n",
        "address in a is vec3",
        "vec3(x, y, z)",
    ),
    Wrong(
        "two of three coordinates",
        "def kernel(a: Volume[f32]) -> Grid[f32]:\n    return a.at(«dy.coord()»)\n",
        "address in a is vec3",
        "vec3(dy.coord(), z)",
    ),
    Wrong(
        "four coordinates in a volume",
        "def kernel(a: Volume[f32], p: vec4 = vec4(0)) -> Volume[f32]:\n    return a.at(«p»)\n",
        "address in a is vec3",
        "p.xyz",
    ),
    Wrong(
        "three numbers in a volume",
        "def kernel(a: Volume[f32], x: f32 = 1.0) -> Volume[f32]:\n    return a.at(x, «x», 2)\n",
        "one address",
        "a.at(vec3(x, x, 2))",
    ),
    Wrong(
        "a subscript of a volume",
        "def kernel(a: Volume[f32]) -> Volume[f32]:\n    return «a[0, 1, 2]»\n",
        "do not have subscripts",
        "a.at(vec3(x, y, z))",
    ),
    Wrong(
        "a volume of nothing",
        "def kernel(a: «Volume») -> Volume[f32]:\n    return 1.0\n",
        "Volume of what?",
        "Volume[f32]",
    ),
    Wrong(
        "a volume that is a value",
        "def kernel(a: Volume[f32]) -> Volume[f32]:\n    return «a» * 2.0\n",
        "a value is needed here",
        "a.sample(), or a.at(coord())",
    ),
    Wrong(
        "outputs a volume and a grid",
        "def kernel(x: f32 = 1.0) -> «tuple[Volume[f32], Grid[f32]]»:\n    return x, x\n",
        "all outputs have one shape: Rows, Grid or Volume",
        "a kernel for each shape",
    ),
    Wrong(
        "coord over rows",
        "def kernel(a: Rows[f32]) -> Rows[f32]:\n    return «coord()».x\n",
        "coord() is for kernels over a Grid",
        "element()",
    ),
    Wrong(
        "sample of another shape",
        "def kernel(a: Rows[f32]) -> Grid[f32]:\n    return «a.sample()»\n",
        "a is Rows, the domain is Grid",
        "a.at(…)",
    ),
    # Helpers
    Wrong(
        "recursion",
        "def f(x):\n    return «f»(x)\ndef kernel(x: f32 = 1.0) -> Grid[f32]:\n    return f(x)\n",
        "f calls itself",
        "a loop",
    ),
    Wrong(
        "mutual recursion",
        "def f(x):\n    return g(x)\ndef g(x):\n    return «f»(x) + 1.0\n"
        "def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return f(x)\n",
        "f calls itself",
        "a loop",
    ),
    Wrong(
        "recursion of the kernel",
        "def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return «kernel»(x)\n",
        "kernel calls itself",
        "a loop",
    ),
    Wrong(
        "wrong argument of a helper",
        "def f(a: vec2):\n    return a.x\n"
        "def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return f(«x»)\n",
        "the argument a of f must be vec2",
        "vec2(x)",
    ),
    Wrong(
        "missing argument of a helper",
        "def f(a, b):\n    return a\ndef kernel(x: f32 = 1.0) -> Grid[f32]:\n    return «f(x)»\n",
        "f takes 2 arguments, not 1",
        "f(a, b)",
    ),
    Wrong(
        "unknown keyword of a helper",
        "def f(a, width):\n    return a\n"
        "def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return f(x, «widht=x»)\n",
        "f has no argument widht",
        "width",
    ),
    Wrong(
        "a default of a helper that is no constant",
        "def f(a, b=None):\n    return a\n"
        "def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return «f(x)»\n",
        "the default of b of f cannot be used",
        "b=…",
    ),
    Wrong(
        "kernel called by a kernel",
        "import dynamis\n@dynamis.kernel\ndef other(x: f32 = 1.0) -> Grid[f32]:\n    return x\n"
        "def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return «other»(x)\n",
        "other cannot be called in a kernel",
        "plain function",
    ),
    Wrong(
        "decorated helper",
        "def same(f): return f\n@«same»\ndef f(a):\n    return a\n"
        "def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return f(x)\n",
        "the helper f has a decorator",
        "def f(…)",
    ),
    Wrong(
        "coord in a helper",
        "def f(a):\n    return a + «coord()».x\n"
        "def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return f(x)\n",
        "coord() is known in the kernel itself",
        "f(…, coord())",
    ),
    Wrong(
        "helper of two types",
        "def f(a):\n    if a > 1.0:\n        return 1\n    return «a»\n"
        "def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return f(x)\n",
        "the result must be i32",
        "i32(a)",
    ),
    Wrong(
        "lambda helper",
        "f = lambda a: a\ndef kernel(x: f32 = 1.0) -> Grid[f32]:\n    return «f»(x)\n",
        "f is a lambda",
        "def f(…)",
    ),
    # Places
    Wrong(
        "columns after wide characters",
        "def kernel(größe: f32 = 1.0) -> Grid[f32]:\n    return größe + größe * «grösse»\n",
        "unknown name grösse",
        "größe",
    ),
    Wrong(
        "an indented definition",
        "class Holder:\n    if True:\n        def kernel(x: f32 = 1.0) -> Grid[f32]:\n"
        "            # a comment\n            return «y»\nkernel = Holder.kernel\n",
        "unknown name y",
        "",
    ),
    Wrong(
        "a continued line",
        "def kernel(x: f32 = 1.0) -> Grid[f32]:\n    return (\n        x\n        + «y»\n    )\n",
        "unknown name y",
        "",
    ),
]
