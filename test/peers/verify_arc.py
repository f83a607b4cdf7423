"""Reads {"records": {name: text}, "messages": [base64]} and prints for each message what its ARC chain is worth, and its signatures."""
import base64
import json
import sys

import dkim

given = json.load(sys.stdin)
records = {name + ".": text.encode() for name, text in given["records"].items()}


def lookup(name, timeout=5):
    return records.get(name.decode())


def chain(message):
    cv, _, reason = dkim.ARC(message).verify(dnsfunc=lookup)
    return [cv.decode() if cv else "none", reason]


def signatures(message):
    count = sum(1 for name, _ in dkim.rfc822_parse(message)[0] if name.lower() == b"dkim-signature")
    return [bool(dkim.DKIM(message).verify(idx=index, dnsfunc=lookup)) for index in range(count)]


messages = [base64.b64decode(text) for text in given["messages"]]
print(json.dumps([{"arc": chain(message), "dkim": signatures(message)} for message in messages]))
