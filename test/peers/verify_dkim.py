"""Reads {"records": {name: text}, "messages": [base64]} and prints for each message which of its signatures pass.

With "signatures" so many are looked at; else all DKIM-Signature fields that the message has.
"""
import base64
import json
import re
import sys

import dkim

given = json.load(sys.stdin)
records = {name + ".": text.encode() for name, text in given["records"].items()}


def lookup(name, timeout=5):
    return records.get(name.decode())


def passes(message, index):
    try:
        return dkim.DKIM(message).verify(idx=index, dnsfunc=lookup)
    except dkim.DKIMException as error:
        return str(error)


def count(message):
    header = message.partition(b"\r\n\r\n")[0]
    return given.get("signatures", len(re.findall(rb"(?im)^DKIM-Signature:", header)))


messages = [base64.b64decode(text) for text in given["messages"]]
print(json.dumps([[passes(message, index) for index in range(count(message))] for message in messages]))
