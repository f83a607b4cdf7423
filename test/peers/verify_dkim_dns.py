"""Verifies the signatures of the message on standard input, with keys from the name server 127.0.0.1:PORT.

Prints one line a signature: its algorithm and whether it passes.
"""
import re
import sys

import dkim
import dns.resolver

resolver = dns.resolver.Resolver(configure=False)
resolver.nameservers = ["127.0.0.1"]
resolver.port = int(sys.argv[1])


def lookup(name, timeout=5):
    for answer in resolver.resolve(name.decode().rstrip("."), "TXT"):
        return b"".join(answer.strings)


message = sys.stdin.buffer.read()
fields = re.findall(rb"(?im)^DKIM-Signature:.*(?:\r\n[ \t].*)*", message)
for index, field in enumerate(fields):
    algorithm = re.search(rb"a=([\w-]+)", field).group(1).decode()
    print(algorithm, dkim.DKIM(message).verify(idx=index, dnsfunc=lookup))
