import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { identity as identitySetting, recipients } from '../../../config/parse-backup.ts';
import {
  createIdentity,
  formatRecipient,
  identityFile,
  parseIdentity,
  parseIdentityFile,
  parseRecipient,
} from '../../../mail/backup/backup-identity.ts';
import { publicKeyOf } from '../../../mail/backup/x25519.ts';

describe('an identity', () => {
  const made = createIdentity();

  test('has the recipient that is printed with it', () => {
    const key = parseIdentity(made.identity)!;
    expect(formatRecipient(publicKeyOf(key))).toBe(made.recipient);
    expect(createIdentity().identity).not.toBe(made.identity);
  });

  test('is read from the file that keygen writes, and several from one file', () => {
    const other = createIdentity();
    const text = identityFile(made, 0) + identityFile(other, 0).replaceAll('\n', '\r\n');
    expect(parseIdentityFile(text)).toEqual([parseIdentity(made.identity), parseIdentity(other.identity)]);
  });

  test.each([
    ['an empty file', ''],
    ['only comments', '# nothing\n'],
    ['a recipient', `${made.recipient}\n`],
    ['an identity and a mistyped one', `${made.identity}\n${made.identity.slice(0, -1)}\n`],
  ])('is not found in a file with %s', (_, text) => {
    expect(parseIdentityFile(text)).toBeUndefined();
  });
});

describe('a recipient', () => {
  const { recipient, identity } = createIdentity();

  test('with any other character is refused: its checksum differs', () => {
    const prefix = 'mailstead-recipient-'.length;
    for (let at = prefix; at < recipient.length; at++) {
      const typed = recipient.slice(0, at) + (recipient[at] === 'A' ? 'B' : 'A') + recipient.slice(at + 1);
      expect(parseRecipient(typed), typed).toBeUndefined();
    }
  });

  test.each([
    ['cut off', recipient.slice(0, -1)],
    ['longer', `${recipient}A`],
    ['an identity', identity],
    ['an identity under the prefix of a recipient', `mailstead-recipient-${identity.slice(-48)}`],
    ['empty', ''],
  ])('that is %s is refused', (_, text) => {
    expect(parseRecipient(text)).toBeUndefined();
  });

  test('of small order is refused, although its checksum is right', () => {
    const key = Buffer.alloc(32);
    const sum = hash('sha256', Buffer.concat([Buffer.from('mailstead-recipient-'), key]), 'buffer').subarray(0, 4);
    expect(parseRecipient(`mailstead-recipient-${Buffer.concat([key, sum]).toString('base64url')}`)).toBeUndefined();
  });

  test('is one of several in the setting, each once', () => {
    const other = createIdentity().recipient;
    const parsed = recipients(`${recipient}, ${other},${recipient}`);
    expect(parsed).toEqual({ ok: true, value: [parseRecipient(recipient), parseRecipient(other)] });
    expect(recipients(`${recipient},`)).toMatchObject({ ok: false });
    expect(identitySetting(recipient)).toMatchObject({ ok: false });
  });
});
