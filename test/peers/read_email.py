"""Reads a message from standard input with Python's email package and writes what it says as JSON."""
import email
import email.policy
import json
import sys

message = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.default)


def content(part):
    if part.get_content_type() == "message/rfc822":
        return part.get_payload(0)["subject"]
    if part.get_content_maintype() == "text":
        return part.get_content().replace("\r\n", "\n")
    return part.get_payload(decode=True).hex()


def people(name):
    return [[one.display_name, one.addr_spec] for one in message[name].addresses] if message[name] else []


print(
    json.dumps(
        {
            "subject": message["subject"],
            "from": people("from"),
            "to": people("to"),
            "defects": [str(defect) for part in message.walk() for defect in part.defects],
            "headerDefects": [str(defect) for value in message.values() for defect in value.defects],
            "parts": [
                [part.get_content_type(), part.get_filename(), part.get_content_disposition(), content(part)]
                for part in message.walk()
                if not part.is_multipart() or part.get_content_type() == "message/rfc822"
            ],
        }
    )
)
