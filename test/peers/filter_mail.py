"""Reads {"records": {name: text}, "mails": [{"message": base64, "spf": {...}}]} and prints for each mail what dkimpy
makes of its signatures and its ARC chain, and authheaders of its DMARC policy with the first signature that passes."""
import base64
import functools
import json
import sys
import warnings

warnings.filterwarnings("ignore")

import authheaders
import dkim
from authheaders import check_arc, check_dmarc
from authres import DKIMAuthenticationResult, SPFAuthenticationResult

# It reads its list of suffixes anew for every name.
authheaders.get_org_domain = functools.lru_cache(authheaders.get_org_domain)
authheaders.dmarc_lookup.get_org_domain = authheaders.get_org_domain

given = json.load(sys.stdin)
records = given["records"]


def lookup(name, timeout=5):
    text = records.get(name.decode().rstrip("."))
    return None if text is None else text.encode()


def policy(name):
    return records.get(name.rstrip("."))


def signatures(message):
    found = []
    count = sum(1 for name, _ in dkim.rfc822_parse(message)[0] if name.lower() == b"dkim-signature")
    for index in range(count):
        one = dkim.DKIM(message)
        try:
            passed = bool(one.verify(idx=index, dnsfunc=lookup))
            why = ""
        except Exception as error:
            passed, why = False, str(error)
        found.append({"pass": passed, "domain": (one.domain or b"").decode("latin1"), "why": why})
    return found


def judged(mail):
    message = base64.b64decode(mail["message"])
    found = signatures(message)
    spf = SPFAuthenticationResult(result=mail["spf"]["result"], smtp_mailfrom="x@" + mail["spf"]["domain"])
    dmarc = {"result": "fail", "policy": ""}
    # It looks at one signature: DMARC passes when it does with any of those that pass.
    for one in [each for each in found if each["pass"]] or [None]:
        signed = one and DKIMAuthenticationResult(result="pass", header_d=one["domain"])
        said = check_dmarc(message, spf, signed, dnsfunc=policy)
        if one is None or said.result != "fail" or dmarc["policy"] == "":
            dmarc = {"result": said.result, "policy": said.policy or ""}
        if said.result == "pass":
            break
    return {"dkim": found, "arc": check_arc(message, dnsfunc=lookup).result, "dmarc": dmarc}


print(json.dumps([judged(mail) for mail in given["mails"]]))
