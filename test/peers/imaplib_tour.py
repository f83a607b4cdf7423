"""Walks through a mailbox with imaplib as a script of a person does. Arguments: port, tls|starttls, user, password."""
import imaplib
import ssl
import sys
import time

port, mode, user, password = sys.argv[1:]
context = ssl._create_unverified_context()


def done(answer):
    kind, data = answer
    assert kind == "OK", (kind, data)
    return data


if mode == "tls":
    box = imaplib.IMAP4_SSL("127.0.0.1", int(port), ssl_context=context, timeout=100)
else:
    box = imaplib.IMAP4("127.0.0.1", int(port), timeout=100)
    done(box.starttls(context))
done(box.login(user, password))
print("folders", sorted(line.decode().rsplit(" ", 1)[1].strip('"') for line in done(box.list())))
done(box.create("Tour"))
text = b"From: me@box.test\r\nTo: me@box.test\r\nSubject: imaplib\r\n\r\nHello from imaplib\r\n"
done(box.append("Tour", "(\\Seen)", imaplib.Time2Internaldate(time.time()), text))
print("exists", int(done(box.select("Tour"))[0]))
print("found", done(box.search(None, "SUBJECT", '"imaplib"')), done(box.search(None, "UNSEEN")))
print("same", done(box.fetch("1", "(FLAGS BODY.PEEK[])"))[0][1] == text)
print("flags", done(box.store("1", "+FLAGS", "(\\Flagged \\Deleted)")))
print("copied", done(box.copy("1", "Archive")))
print("expunged", done(box.expunge()))
done(box.close())
print("status", done(box.status("Archive", "(MESSAGES)")))
done(box.delete("Tour"))
box.logout()
