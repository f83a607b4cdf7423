"""Reads {"records": {name: text}, "messages": [base64]} and prints for each message which of its signatures pass."""
import base64
import json
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


messages = [base64.b64decode(text) for text in given["messages"]]
print(json.dumps([[passes(message, index) for index in range(given["signatures"])] for message in messages]))
