"""Prints all records of a zone but the SOA, by a transfer with TSIG: axfr.py PORT ZONE KEY SECRET."""
import sys
import dns.query
import dns.rdatatype
import dns.tsigkeyring

port, zone, key, secret = sys.argv[1:]
keyring = dns.tsigkeyring.from_text({key: secret})
lines = set()
for message in dns.query.xfr("127.0.0.1", zone, port=int(port), keyring=keyring, keyalgorithm="hmac-sha256", relativize=False, timeout=100):
    for rrset in message.answer:
        if rrset.rdtype != dns.rdatatype.SOA:
            lines.update(rrset.to_text().split("\n"))
print("\n".join(sorted(lines)))
