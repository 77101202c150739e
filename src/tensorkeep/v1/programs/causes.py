"""What stopped a program, where the cause is a Python or a NumPy of another time, or a name that is not here.

A cause is told in a sentence or two: what is meant, and what to do.
"""

from __future__ import annotations

import re
import sys
from difflib import get_close_matches
from typing import Final

from tensorkeep.v1.absent import advice
from tensorkeep.v1.programs.finding import is_lacking, path_of

_TWO: Final = (
    "the program is written for Python 2; `2to3 -w` (of Python before 3.13) or the package `modernize` rewrites it"
)

_NEAR: Final = 0.8  # how like a name another has to be to be what was meant

_PYTHON_2: Final = (
    r"Missing parentheses in call to '(print|exec)'",
    r"multiple exception types must be parenthesized",
    r"leading zeros in decimal integer literals",
    r"invalid (decimal|hexadecimal) literal",
    r"inconsistent use of tabs",
)
_PYTHON_2_NAMES: Final = (
    "xrange",
    "unicode",
    "raw_input",
    "basestring",
    "long",
    "reduce",
    "unichr",
    "file",
    "cmp",
    "izip",
)
_PYTHON_2_MODULES: Final = {
    "ConfigParser": "configparser",
    "HTMLParser": "html.parser",
    "Queue": "queue",
    "StringIO": "io",
    "Tkinter": "tkinter",
    "__builtin__": "builtins",
    "cPickle": "pickle",
    "cStringIO": "io",
    "commands": "subprocess",
    "httplib": "http.client",
    "thread": "_thread",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
}
_OLD_NUMPY: Final = """
    bool int float complex object str long unicode bool8 float_ product cumproduct alltrue sometrue in1d row_stack trapz
    asscalar NAN NaN Inf Infinity infty string_ unicode_
"""
_VIEWS: Final = r"'(dict_keys|dict_values|dict_items|map|zip|filter|range)'"
_LIST: Final = "Python 3 gives a view: put list(…) around it"
_BYTES: Final = 'text and bytes are two things in Python 3: open the file as "wb" or "rb", or encode the text'

# By what an AttributeError says: what to write instead.
_ATTRIBUTES: Final = {
    r"'dict' object has no attribute '(iteritems|itervalues|iterkeys|has_key)'": (
        "dictionaries of Python 3 have items(), values(), keys() and `in`"
    ),
    r"module 'urllib' has no attribute '(urlretrieve|urlopen)'": "Python 3 has it in urllib.request",
    r"module 'urllib' has no attribute '(urlencode|quote|unquote)'": "Python 3 has it in urllib.parse",
    r"module 'string' has no attribute '(letters|lowercase|uppercase)'": "Python 3 has string.ascii_letters and others",
    r"module 'itertools' has no attribute '(izip|imap|ifilter)'": "Python 3 has zip, map and filter",
    r"module 'time' has no attribute 'clock'": "Python since 3.8 has time.perf_counter",
    r"module 'inspect' has no attribute 'getargspec'": "Python since 3.11 has inspect.getfullargspec",
    r"module 'collections' has no attribute '[A-Z]\w+'": "Python since 3.10 has it in collections.abc",
    rf"module 'numpy' has no attribute '({'|'.join(_OLD_NUMPY.split())})'": (
        "NumPy of today lacks this old name: the built-in type, or the name in small letters, does the same"
    ),
    r"'numpy.ndarray' object has no attribute '(tostring|itemset|newbyteorder|ptp)'": (
        "NumPy 2 has a.tobytes() for tostring(), np.ptp(a), a.view(a.dtype.newbyteorder()), and a[i] = value"
    ),
    r"'scipy.misc' has no attribute '(imread|imsave|imresize|toimage|imrotate)'": (
        "SciPy since 1.2 has no images: imageio and Pillow read and resize them"
    ),
    r"'(DataFrame|Series)' object has no attribute 'as_matrix'": "pandas since 1.0 has to_numpy()",
    r"'(ImageDraw|FreeTypeFont)' object has no attribute '(textsize|getsize)'": (
        "Pillow since 10 has textbbox and getbbox, which give left, top, right and bottom"
    ),
    r"module 'PIL.Image' has no attribute '(ANTIALIAS|LINEAR|CUBIC)'": "Pillow since 10 has Image.LANCZOS and others",
}

# By what a TypeError says: what to write instead.
_ARGUMENTS: Final = {
    r"reshape\(\) got (an unexpected|some positional-only).*'newshape'": "NumPy of today has shape= instead",
    r"only 0-dimensional arrays can be converted": "NumPy since 2.4 wants a.item() for an array of one number",
    r"load\(\) missing 1 required positional argument: 'Loader'": "PyYAML since 6 wants yaml.safe_load",
    rf"{_VIEWS} object (is not subscriptable|does not support item)": _LIST,
    rf"unsupported operand type\(s\) for .*{_VIEWS}": _LIST,
    r"'float' object cannot be interpreted as an integer": "`/` of Python 3 gives a float: write `//`",
    r"a bytes-like object is required, not 'str'": _BYTES,
    r"write\(\) argument must be str, not bytes": _BYTES,
}


def cause_of(error: BaseException) -> str | None:
    """Why a program stopped, if that is known; None where its error says all there is to say."""
    found = (look(error) for look in (_of_syntax, _of_import, _of_name, _of_attribute, _of_arguments, _of_pickle))
    return next((cause for cause in found if cause is not None), None)


def _of_syntax(error: BaseException) -> str | None:
    if not isinstance(error, SyntaxError):
        return None
    line = error.text or ""
    old = any(re.search(pattern, error.msg or "") for pattern in _PYTHON_2)
    old = old or bool(
        re.search(r"<>|^\s*print\s+\S|^\s*exec\s+\S|^\s*raise\s+\w+\s*,|`[^`]+`|\bur['\"]|\b\d+L\b", line)
    )
    return _TWO if old else None


def _of_import(error: BaseException) -> str | None:
    if not isinstance(error, ImportError):
        return None
    if instead := _PYTHON_2_MODULES.get(error.name or ""):
        return f"{_TWO}. Python 3 calls {error.name} {instead}"
    wanted = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
    if wanted is None:
        return _not_installed(error) if isinstance(error, ModuleNotFoundError) else None
    return _lacking_name(wanted[2], wanted[1])


_DISTRIBUTIONS: Final = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "gin": "gin-config",
    "pkg_resources": "'setuptools<81'",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Packages that are installed under another name than they are imported by."""


def _not_installed(error: ModuleNotFoundError) -> str | None:
    top = (error.name or "").partition(".")[0]
    if path_of(error.name or "") is not None:
        return f"TensorFlow 1 has no module {error.name}"
    wanted = _DISTRIBUTIONS.get(top, top)
    return f"the program needs a package that is not installed: pip install {wanted}" if top else None


def _lacking_name(module: str, name: str) -> str | None:
    below = path_of(module.replace("tensorkeep.v1", "tensorflow", 1)) if module.startswith("tensor") else None
    if below is None:
        return _old_place(module, name)
    path = f"{below}.{name}".strip(".")
    instead = _near_name(module, name) or advice(path)
    said = f"tensorkeep has no tensorflow.{path}"
    if is_lacking(below):
        said = f"tensorkeep has nothing of tensorflow.{below}"
    return f"{said}: {instead}" if instead else said


def _old_place(module: str, name: str) -> str | None:
    if module == "collections":
        return "Python since 3.10 has it in collections.abc"
    if module == "itertools" and name.startswith("i"):
        return f"{_TWO}. Python 3 has {name[1:]} itself"
    return f"NumPy or SciPy of today has no {module}.{name}" if module.startswith(("numpy", "scipy")) else None


def _of_name(error: BaseException) -> str | None:
    if not isinstance(error, NameError) or isinstance(error, UnboundLocalError):
        return None
    name = re.match(r"name '(\w+)' is not defined", str(error))
    return f"{_TWO}: Python 3 has no {name[1]}" if name and name[1] in _PYTHON_2_NAMES else None


def _of_attribute(error: BaseException) -> str | None:
    found = _matching(error, AttributeError, _ATTRIBUTES)
    wanted = re.match(r"module '((?:tensorkeep\.v1|tensorflow)[\w.]*)' has no attribute '(\w+)'", str(error))
    return found if found or wanted is None or not isinstance(error, AttributeError) else _near_name(*wanted.groups())


def _near_name(module: str, name: str) -> str | None:
    """What a misspelled name of a module of ours was meant to be."""
    there = sys.modules.get(module)
    near = get_close_matches(name, dir(there), 1, _NEAR) if there else []
    return f"did you mean {near[0]}?" if near else None


def _of_arguments(error: BaseException) -> str | None:
    return _matching(error, TypeError, _ARGUMENTS)


def _matching(error: BaseException, kind: type[BaseException], known: dict[str, str]) -> str | None:
    if not isinstance(error, kind):
        return None
    return next((instead for pattern, instead in known.items() if re.search(pattern, str(error))), None)


def _of_pickle(error: BaseException) -> str | None:
    if isinstance(error, UnicodeDecodeError) and error.encoding == "ascii":
        return 'a pickle of Python 2 is read by pickle.load(file, encoding="latin1")'
    return None
