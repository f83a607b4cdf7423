"""Sends standard input with smtplib. Arguments: port, tls|starttls, user, password, sender, recipient."""
import smtplib
import ssl
import sys

port, mode, user, password, sender, recipient = sys.argv[1:]
context = ssl._create_unverified_context()
if mode == "tls":
    client = smtplib.SMTP_SSL("127.0.0.1", int(port), context=context, timeout=100)
else:
    client = smtplib.SMTP("127.0.0.1", int(port), timeout=100)
    client.starttls(context=context)
with client:
    client.login(user, password)
    refused = client.sendmail(sender, [recipient], sys.stdin.buffer.read())
    print("refused", len(refused))
