"""Packs gpumb.py and gpumb.h for pip: a build backend (PEP 517) that needs the standard library
alone, so that `pip install` works without a network."""

import base64
import hashlib
import io
import pathlib
import re
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# The header and the licence stand here in an unpacked archive, above in a clone.
TOP = HERE if (HERE / "gpumb.h").exists() else HERE.parent.parent
HEADER, LICENSE = TOP / "gpumb.h", TOP / "LICENSE"
if not HEADER.exists():
    raise SystemExit(
        f"no gpumb.h in {HERE} or two folders above: pip before 21.3 builds in a copy of this"
        " folder alone; upgrade pip, or do without: PYTHONPATH=examples/python"
    )
VERSION = re.search(r'#define GPUMB_VERSION "(.*)"', HEADER.read_text(encoding="utf-8"))[1]
NAME = f"gpumb-{VERSION}"
METADATA = f"""\
Metadata-Version: 2.1
Name: gpumb
Version: {VERSION}
Summary: Times GPU kernels and any other callable, with intervals and comparisons
License: MIT or public domain
Requires-Python: >=3.9
Description-Content-Type: text/markdown

"""


def _metadata() -> bytes:
    return METADATA.encode() + (HERE / "README.md").read_bytes()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = f"{NAME}.dist-info"
    tag = "py3-none-any"
    files = {
        "gpumb/__init__.py": (HERE / "gpumb.py").read_bytes(),
        "gpumb/gpumb.h": HEADER.read_bytes(),
        "gpumb/py.typed": b"",
        f"{info}/LICENSE": LICENSE.read_bytes(),
        f"{info}/METADATA": _metadata(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n".encode(),
    }
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{NAME}-{tag}.whl"
    with zipfile.ZipFile(
        pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED
    ) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    files = {path.name: path.read_bytes() for path in (HEADER, LICENSE)}
    for name in ("gpumb.py", "package.py", "pyproject.toml", "README.md"):
        files[name] = (HERE / name).read_bytes()
    files["PKG-INFO"] = _metadata()
    archive = f"{NAME}.tar.gz"
    with tarfile.open(
        pathlib.Path(sdist_directory) / archive, "w:gz", format=tarfile.PAX_FORMAT
    ) as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{NAME}/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return archive
