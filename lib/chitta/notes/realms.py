"""Which realm a working directory belongs to, and which folder a realm's notes live in.

A realm is named after what identifies a project, not after where it happens to lie: the
address of its remote, or the real path of its git folder when there is none. Git itself is
not run; the few files that matter are read directly.

Imported on the prompt path when the daemon is away: standard library only, and cheap.
"""

from __future__ import annotations

import os
import re

GLOBAL = "global"
MAX_REALM = 200

# Each scheme of a URL that git can fetch from over a network, with the port that it implies.
_PORTS = {
    "ssh": "22",
    "git+ssh": "22",
    "ssh+git": "22",
    "git": "9418",
    "http": "80",
    "https": "443",
    "ftp": "21",
    "ftps": "990",
}
_SECTION = re.compile(r'\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)')
_MAX_CONFIG = 1 << 20
# What stands before an @, also where the @ is escaped, but for the name of a person at a host: that is an owner.
_BEFORE_AT = re.compile(r".*(?:@|%40)", re.IGNORECASE)
_MAIL = re.compile(r"[a-z]+(?:[._-][a-z]+)*@[a-z0-9-]+(?:\.[a-z0-9-]+)+", re.IGNORECASE)
_USER_AND_PASSWORD = re.compile(r"[^/@:]+:[^/@]*@[^/@:]+(?=:)")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
# Well under the 255 bytes that common file systems allow for one name.
_MAX_COMPONENT = 200


def realm_of(cwd: str, override: str = "") -> str:
    """The realm of ``cwd`` (an absolute path); never raises.

    ``override`` (the setting CHITTA_REALM) wins when it is a valid realm. Otherwise:
    ``project:host/owner/name`` from the remote ``origin``, or from the first other remote with
    a network address; else ``project:<name>-<8 hex>`` of the real path of the common git folder;
    ``global`` outside a repository, and in a repository whose work tree is the home folder itself.
    """
    if override and valid_realm(override):
        return override
    try:
        common = _common_folder(cwd)
    except (OSError, ValueError):
        common = ""
    if not common:
        return GLOBAL
    for url in _remote_urls(common):
        address = _address(url)
        if address and valid_realm(f"project:{address}"):
            return f"project:{address}"
    return named_realm(common)


def valid_realm(text: str) -> bool:
    """Printable, at most 200 characters, every part of its path a real name."""
    if not text or len(text) > MAX_REALM or not text.isprintable() or text != text.strip():
        return False
    left, colon, right = text.partition(":")
    parts = left.split("/") + (right.split("/") if colon else [])
    return all(part.strip() and part not in (".", "..") for part in parts)


def realm_folder(realm: str) -> str:
    """The relative POSIX path of the realm's notes; two realms never share one.

    ``project:github.com/Acme/app`` → ``project/github.com/%41cme/app``. Capitals are escaped so
    that the mapping stays one to one on file systems that ignore case. Raises ``ValueError``.
    """
    if not valid_realm(realm):
        raise ValueError(f"{realm[:80]!r} is no realm")
    left, colon, right = realm.partition(":")
    parts = [left, *(right.split("/") if colon else ())]
    return "/".join(name for part in parts for name in _encode(part))


def folder_realm(path: str) -> str:
    """The realm whose notes live at ``path``, relative to the notes folder.

    Undoes :func:`realm_folder`; folders made by hand may hold plain capitals. Raises ``ValueError``
    when no realm can live there.
    """
    # A lone % at the end of a name says that the part goes on in the folder below.
    parts = [_decode(name) for name in path.strip("/").replace("%/", "").split("/")]
    realm = ":".join((parts[0], "/".join(parts[1:]))) if len(parts) > 1 else parts[0]
    if not valid_realm(realm):
        raise ValueError(f"{path[:80]!r} is no realm's folder")
    return realm


# Finding the repository


def work_tree(cwd: str) -> str:
    """Real path of the top folder of ``cwd``'s repository (absolute); ``""`` where :func:`realm_of` sees none."""
    try:
        return _repository(cwd)[0]
    except (OSError, ValueError):
        return ""


def _common_folder(cwd: str) -> str:
    """Real path of the git folder that all work trees of ``cwd``'s repository share, or ``""``."""
    return _repository(cwd)[1]


def _repository(cwd: str) -> tuple[str, str]:
    """The top folder of ``cwd``'s repository and its common git folder; both empty outside of one."""
    if not os.path.isabs(cwd) or not os.path.isdir(cwd):
        return "", ""
    home = os.path.realpath(os.path.expanduser("~"))
    folder = os.path.realpath(cwd)
    while True:
        git_folder = _git_folder(folder)
        if git_folder:
            common = _shared(git_folder)
            # A repository of dot files in the home folder is not the project of all that lies below it.
            return ("", "") if folder == home else (folder, common)
        above = os.path.dirname(folder)
        if above == folder:
            return "", ""
        folder = above


def _git_folder(folder: str) -> str:
    """The git folder of the work tree (or bare repository) at ``folder``, or ``""``."""
    entry = os.path.join(folder, ".git")
    if os.path.isfile(entry):
        pointer = _first_line(entry)
        if pointer.startswith("gitdir:"):
            entry = os.path.join(folder, pointer[len("gitdir:") :].strip())
    if _is_git_folder(entry):
        return entry
    return folder if _is_git_folder(folder) else ""


def _is_git_folder(path: str) -> bool:
    shared = _shared(path)
    return os.path.lexists(os.path.join(path, "HEAD")) and os.path.isdir(os.path.join(shared, "objects"))


def _shared(git_folder: str) -> str:
    """The common folder: that of the main work tree, which ``commondir`` of a linked one names."""
    pointer = _first_line(os.path.join(git_folder, "commondir"))
    return os.path.realpath(os.path.join(git_folder, pointer))


def _first_line(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(8192).partition(b"\n")[0]).strip()
    except OSError:
        return ""


def named_realm(common: str) -> str:
    """The realm of a repository without a remote, by the real path of its common git folder."""
    from hashlib import sha256

    name = os.path.basename(common)
    if name.startswith("."):  # .git and its like are named after the folder that holds them
        name = os.path.basename(os.path.dirname(common))
    name = name[:-4] if name.endswith(".git") else name
    name = "".join(c if c.isprintable() else "_" for c in name)[:80].strip()
    digest = sha256(os.fsencode(common)).hexdigest()[:8]
    return f"project:{name or 'root'}-{digest}"


# Reading its remotes


def _remote_urls(common: str) -> list[str]:
    """The first URL of each remote in the repository's own config: origin first, then by name."""
    urls: dict[str, str] = {}
    remote = ""
    for line in _config_lines(os.path.join(common, "config")):
        section = _SECTION.match(line)
        if section:
            kind, name, line = section.group(1), section.group(2) or "", section.group(3).strip()
            if not name and kind.lower().startswith("remote."):
                kind, name = "remote", kind[len("remote.") :]
            remote = re.sub(r"\\(.)", r"\1", name) if kind.lower() == "remote" else ""
        key, equals, raw = line.partition("=")
        if remote and equals and key.strip().lower() == "url":
            value = _config_value(raw)
            if value:
                urls.setdefault(remote, value)
    return [urls[name] for name in sorted(urls, key=lambda name: (name != "origin", name))]


def _config_lines(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            text = file.read(_MAX_CONFIG).decode("utf-8", "surrogateescape")
    except OSError:
        return []
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\\\n", "")
    return [line.strip() for line in text.split("\n")]


def _config_value(raw: str) -> str:
    """A value as git reads it: quotes and escapes resolved, a comment after it dropped."""
    value, quoted, at = "", False, 0
    raw = raw.strip()
    while at < len(raw):
        c = raw[at]
        if c == "\\" and at + 1 < len(raw):
            at += 1
            value += raw[at]
        elif c == '"':
            quoted = not quoted
        elif c in "#;" and not quoted:
            break
        else:
            value += c
        at += 1
    return value.strip()


def _address(url: str) -> str:
    """``host/path`` of a network URL, the same for every way to reach it; ``""`` for any other URL.

    A URL with a query or fragment is no address: dropping it could join two projects, and
    keeping it could keep a token. What stands before an ``@``, in any part, is a login and no part
    of the name; an empty one (``@scope``) and a mail address as an owner stay.
    """
    if "?" in url or "#" in url or re.match(r"[\w+.-]+::", url):
        return ""
    scheme, has_scheme, rest = url.partition("://")
    if has_scheme:
        authority, _, path = rest.partition("/")
        port = _PORTS.get(scheme.lower())
        if port is None:
            return ""
    else:  # the short form, user@host:path; a colon after a slash, or a drive letter, is a local path
        bracket = url.partition("/")[0].find("]:")
        login = _USER_AND_PASSWORD.match(url)
        colon = bracket + 1 if bracket >= 0 else login.end() if login else url.find(":")
        authority, path, port = url[:colon], url[colon + 1 :], "22"
        if colon < 2 or "/" in authority:
            return ""
        if re.fullmatch(r"\[[^\]]*@[^\]]*\]|\[[^:\]]*:\d*\]", authority):  # [user@host:port]:path
            authority = authority[1:-1]
    host = _host(authority, port)
    parts = [_without_login(part) for part in path.split("/") if part]
    if not all(parts):
        return ""
    if parts and parts[-1].endswith(".git"):
        parts[-1] = parts[-1][: -len(".git")]
    parts = parts if not parts or parts[-1] else parts[:-1]
    return "/".join([host, *parts]) if host and parts else ""


def _without_login(part: str) -> str:
    found = _BEFORE_AT.match(part)
    if found is None or found[0] in ("@", "%40") or _MAIL.fullmatch(part):
        return part
    return part[found.end() :]


def _host(authority: str, default_port: str) -> str:
    """The host in lower case, without credentials, with its port unless the scheme implies it."""
    place = authority.rpartition("@")[2].lower()
    if place.startswith("["):
        host, _, port = place.partition("]")
        host, port = f"{host}]", port.removeprefix(":")
    elif place.count(":") > 1:
        host, port = f"[{place}]", ""
    else:
        host, _, port = place.partition(":")
    host = host.rstrip(".")
    if port and not (port.isascii() and port.isdigit()):
        return ""
    return f"{host}:{port}" if host and port and port != default_port else host


# Names of folders


def _encode(part: str) -> list[str]:
    """The folder names for one part of a realm: one, or several when the part is very long.

    A lone ``%`` at the end of a name, which no escape leaves there, says that the part goes on below.
    """
    names = [""]
    for c in part:
        atom = c if c in _PLAIN else "".join(f"%{byte:02X}" for byte in c.encode())
        if len(names[-1]) + len(atom) > _MAX_COMPONENT:
            names[-1] += "%"
            names.append("")
        names[-1] += atom
    # Hidden folders are skipped by a scan, and NAME.md is what a note of the realm above is called.
    names = [f"%2E{name[1:]}" if name.startswith(".") else name for name in names]
    return [f"{name[:-3]}%2Emd" if name.endswith(".md") else name for name in names]


def _decode(name: str) -> str:
    if re.search(r"%(?![0-9A-Fa-f]{2})", name):
        raise ValueError(f"{name[:80]!r} holds a broken escape")
    escaped = re.compile(rb"%(..)", re.DOTALL)
    raw = name.encode("utf-8", "surrogateescape")
    return escaped.sub(lambda found: bytes([int(found.group(1), 16)]), raw).decode("utf-8")
