"""Orders to a model in ten more languages: set aside other instructions, send or reveal what is secret, hide something.

In Turkish, Polish, Dutch and Hindi the first of these only.

The words of each part of such a sign have to stand near one another, in any order: each language has its own.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_I = re.IGNORECASE


class Parts(NamedTuple):
    """A sign whose parts stand near one another in any order; the first part is looked for first."""

    weight: float
    reason: str
    parts: tuple[Either, ...]


class Either(NamedTuple):
    """Words of all languages, and those that a text in ASCII can hold."""

    any: re.Pattern[str]
    ascii: re.Pattern[str]


def _any_of(latin: str, other: str, names: str = r"(?!)") -> Either:
    """Beginnings of words in Latin letters, lower case and without accents, or words of other scripts anywhere.

    ``names`` are files and addresses, which are the same in all of them.
    """
    return Either(re.compile(rf"\b(?:{latin})|{names}|{other}"), re.compile(rf"\b(?:{latin})|{names}"))


#: How far from the first part of such a sign the other parts may be, in characters.
_NEAR = 70
# German, French, Spanish, Portuguese and Italian in Latin letters; Russian, Arabic, Chinese, Japanese and Korean.
# Behind them Turkish, Polish and Dutch, and Hindi.
FOREIGN: tuple[Parts, ...] = (
    Parts(
        0.9,
        "asks in another language to set aside other instructions",
        (
            _any_of(
                r"anweisung|instruktion|anordnung|vorgaben\b|regeln\b|vorschrift|instrucc|instructions\b|instrucoes"
                r"|consigne|directiv"
                r"|diretriz|regles\b|reglas\b|regras\b|regole\b|istruzion|indicazion|direttiv|ordini\b|ordenes\b"
                r"|ordens\b"
                r"|ordres\b|alles\b|tout ce|todo lo|tudo o|tutto (?:cio|quello)"
                r"|talimat|yonerge|komut(?:lari|lar)|kurallari|instrukcj|polece(?:nia|n)\b|wytyczn|zasady\b|instructies\b"
                r"|aanwijzing|opdrachten\b|voorschrift",
                r"инструкци|указани|команды|правила|предписани|تعليمات|التعليمات|الأوامر|أوامر|القواعد|التوجيهات"
                r"|指令|指示|规则"
                r"|規則|提示词|说明|命令|ルール|プロンプト|지시|명령|지침|규칙|프롬프트"
                r"|निर्देश|आदेश|नियम|हिदायत",
            ),
            _any_of(
                r"ignorier|ignorez?\b|ignora|ignore|missacht|vergiss|vergesst|vergessen sie|verwirf|uberge[hs]"
                r"|oublie|"
                r"ne (?:tiens?|tenez|respecte|suis|suivez)|neglige|outrepass|olvid|omit[ae]|haz caso omiso"
                r"|hagas? caso"
                r"|desobede[zc]|desconsider|desatend|esquec|dimentic|trascur|scarta|disobbedi"
                r"|non (?:seguire|considerare|tenere)"
                r"|no (?:sigas?|obedezcas)|nao (?:siga|obedec)|(?:befolge?|beachte)n?\b[^.\n]{0,50}\bnicht\b"
                r"|yok say|gormezden gel|dikkate alma|goz ardi|unut(?:un)?\b|bosver|z?ignoruj|pomin|zapomnij|zlekcewaz"
                r"|nie (?:stosuj|przestrzegaj|zwracaj)|negeer|vergeet\b|sla\b[^.\n]{0,50}\bover\b",
                r"игнорир|забуд|не обращай|отбрось|пренебрег|не следуй|تجاهل|انس[َى ]|انسَ|لا تتبع|忽略|无视|無視"
                r"|忘记|忘掉|忘れ|不要遵|不要理"
                r"|従わない|무시|잊어|따르지|अनदेखा|अनदेखी|नज़?र ?अंदाज|भूल जा|उपेक्षा|मत मान",
            ),
            _any_of(
                r"vorherig|vorig|bisherig|vorangegang|fruher|obig|zuvor|vorher\b|alle\b|deine|precedent|anterior"
                r"|previ[ao]s"
                r"|precedenti|toutes?\b|tes\b|vos\b|tod[oa]s\b|tus\b|sus\b|tutt[ei]\b|tue\b|suas\b|tuas\b|ci-dessus"
                r"|onceki|yukaridaki|butun\b|tum\b|poprzedni|wczesniejsz|powyzsz|wszystki|vorige|voorgaande|eerdere"
                r"|bovenstaande|je\b|jouw\b",
                r"предыдущ|прежн|предшеств|вс[её] |все|твои|выше|ранее|السابقة|كل |جميع|أعلاه|之前|以前|先前|上述"
                r"|上面|所有|以上|前の"
                r"|これまで|すべて|全て|今まで|이전|앞의|앞선|모든|위의|지금까지|पिछल|पहले|सभी|सारे|सब |उपरोक्त|ऊपर",
            ),
        ),
    ),
    Parts(
        0.75,
        "asks in another language to send secrets or private data somewhere",
        (
            _any_of(
                r"passwor|passwort|kennwort|zugangsdaten|geheimnis|geheime|schlussel\b|mots? de passe|identifiants"
                r"|secrets?\b"
                r"|cles? (?:api|privee|secrete|ssh)|contrasen|credencia|secretos|claves?\b|senhas?\b|segredos"
                r"|chaves?\b"
                r"|credenzial|segret[io]\b|chiav[ei]\b|id_rsa|credentials|api[ _-]?key",
                r"парол|секрет|ключ|учетные данн|كلمات? (?:المرور|السر)"
                r"|كلمة (?:المرور|السر)"
                r"|أسرار|الأسرار|المفاتيح|مفتاح|密码|密碼|密钥|金鑰|凭证|机密|秘密|パスワード|認証情報|鍵|キー|비밀"
                r"|암호|키를|자격 증명",
                r"\.env\b|\.env(?![a-z])|\.ssh|\.aws",
            ),
            _any_of(
                r"sende[nt]?\b|schick|ubermitt|ubertrag|lade?\b|hochlad|veroffentlich|envoi|envoy|transmet|televers"
                r"|publie[rz]?\b"
                r"|envi[ae]|mand[ae]\b|sub[ae]\b|transmit[ae]\b|invi[ao]|trasmett|caric|spedi|pubblic|poste[rz]?\b"
                r"|posta\b",
                r"отправ|пошли|перешли|загруз|передай|опублик|أرسل|ارسل|إرسال|ارفع|انشر|发送|發送|发到|上传|上傳"
                r"|传到|发给|提交到"
                r"|送信|送って|送れ|アップロード|投稿|보내|전송|업로드|올려",
            ),
            _any_of(
                r"https?:|ftp:|www\.|an mich\b|a moi\b|attacker",
                r"(?!)",
                r"[\w.-]{1,40}@[\w-]|\b[\w-]{1,40}\.(?:com|net|org|io|xyz|evil|invalid|example|test)(?![a-z])",
            ),
        ),
    ),
    Parts(
        0.75,
        "asks in another language to reveal hidden instructions",
        (
            _any_of(
                r"system-?prompt|systemanweisung|prompt (?:du )?syst|prompt d[eoi]l? sist|prompt (?:de|di) sist"
                r"|instruc\w{1,6} d[ou]?e?l? ?sist|istruzioni di sistema|instructions (?:du )?systeme",
                r"системн\w{1,4} (?:промпт|инструкц|подсказ|запрос)|(?:موجه|تعليمات|مطالبة) النظام|系统提示|系統提示"
                r"|系统指令"
                r"|システムプロンプト|システム指示|시스템 ?프롬프트|시스템 ?지시",
            ),
            _any_of(
                r"zeig|verrat|gib\b|nenne|offenbar|revel|montr|affich|donne|muestr|revela|dime\b|mostr|diga|rivel"
                r"|dimmi|stampa",
                r"покажи|раскрой|выведи|назови|сообщи|اكشف|أظهر|اعرض|أخبرني|显示|透露|输出|告诉|泄露|顯示|見せ"
                r"|表示し|教え|明かし"
                r"|出力し|보여|공개|알려|출력",
            ),
            _any_of(
                r"dein|ihre?n?\b|ton\b|votre|tes\b|tu\b|su\b|seu\b|sua\b|teu\b|tuo\b|tue\b|suo\b|vostr", r"(?!)", r"\w"
            ),
        ),
    ),
    Parts(
        0.75,
        "asks in another language to hide something from the person",
        (
            _any_of(
                r"(?:be)?nutzer|anwender|benutzer|utilisat|usuari|utente|utenti|usager",
                r"пользовател|المستخدم|用户|用戶|使用者|ユーザ|利用者|사용자|유저",
            ),
            _any_of(
                r"sag(?:e|en|t)?\b|erzahl|mitteilen\b|informieren?\b|verrat|erwahn|dis\b|dites?\b"
                r"|inform(?:e[srz]?|ar?e?)\b|mentionn|revel|parle|dig[ao]s?\b"
                r"|avis[ae]|cuent|menci|cont[ea]r?\b|dir(?:e|lo)\b|dillo\b|avvis|rivel|menzion",
                r"говори|сообща|рассказыва|упомина|скаж|информир|تخبر|تقل|تذكر|تبلغ|告诉|告訴|告知|透露|提及|通知"
                r"|言わ|言う|伝え|知らせ"
                r"|教え|말하|알리|알려|언급",
            ),
            _any_of(
                r"nicht\b|nichts\b|niemals|ne\b|n'|jamais|rien\b|no\b|nunca|nada|nao\b|jamas|non\b|mai\b|niente",
                r"\bне\b|ничего|никогда|لا |عدم|دون|不要|别|別|勿|不得|不能|ないで|な[。！\s]|なよ|するな|せずに"
                r"|しない|てはいけ|えるな|うな|지 ?마|지 ?않|말고",
            ),
        ),
    ),
)
#: Accents of the Latin languages here, and the Russian letter that is often written without its dots.
ACCENTS = str.maketrans("àáâãäçèéêëìíîïñòóôõöùúûüışğąćęłńśźżё’", "aaaaaceeeeiiiinooooouuuuisgacelnszzе'", "\u0307")


def stand_together(parts: tuple[Either, ...], text: str) -> bool:
    """Whether words of each part stand near one of the first."""
    first, *others = [part.ascii if text.isascii() else part.any for part in parts]
    for anchor in first.finditer(text):
        near = text[max(0, anchor.start() - _NEAR) : anchor.end() + _NEAR]
        if all(part.search(near) for part in others):
            return True
    return False
