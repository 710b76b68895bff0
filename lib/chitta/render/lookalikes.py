"""Letters that look like Latin ones, each as the one that it looks like.

Chosen by hand from Unicode's confusables.txt (UTS #39): what a word can be written in so that it is still read.
"""

from __future__ import annotations

import re
import unicodedata

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
# Each line a script: its letters, and in the same order the Latin ones.
_PAIRS: tuple[tuple[str, str], ...] = (
    ("аеорсухіјѕԁһԛԝѵѡкмтнвпгя", "aeopcyxijsdhqwvwkmthbnrr"),
    ("АВЕКМНОРСТХІЅЈУҮԀԚԜѴҺЯ", "ABEKMHOPCTXISJYYDQWVHR"),
    ("αβγειηκμνορςστυχω", "abyeinkuvopcotuxw"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
    ("օոսհցյզՍՕ", "onuhgjqUO"),
    ("ᎪᏴᏟᎠᎬᏀᎻᏆᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᎩᏃ", "ABCDEGHIJKLMPRSTVWYZ"),
    ("ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", "ABCDEFGHIJKLMNOPRSTUVWXYZ"),
    ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯǫʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqqrstuvwyz"),
    ("ɑɡıȷɩʋɾƅøđħŧłɨƀɇɉɍɏƚØĐĦŁ", "agijivrbodhtlibejrylODHL"),
    *(("".join(chr(first + at) for at in range(26)), _ALPHABET) for first in (0x1F150, 0x1F170, 0x1F1E6)),
)
#: Brackets that are no quotation marks of any language, as those of a tag.
BRACKETS = {"<": "\u1438\u02c2\u227a\u22d6\u29fc\u276c\u276e", ">": "\u1433\u02c3\u227b\u22d7\u29fd\u276d\u276f"}
_TABLE = {ord(like): latin for letters, latins in _PAIRS for like, latin in zip(letters, latins, strict=True)}
_TABLE |= {ord(like): bracket for bracket, likes in BRACKETS.items() for like in likes}
# Marks that are set over or around letters.
_MARKS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")


def latin(text: str) -> str:
    """``text`` with compatible forms plain, accents off, and look-alikes as the letters that they look like."""
    if text.isascii():
        return text
    return _MARKS.sub("", unicodedata.normalize("NFKD", text)).translate(_TABLE)
