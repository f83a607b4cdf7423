import { expect, test } from 'vitest';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { unpackParts } from '../../../mail/message/parts.ts';
import { readAttachmentLink } from '../../../src/webhooks/attachment-link.ts';
import type { InboundEvent } from '../../../src/webhooks/event-schemas.ts';
import { inboundBody } from '../../../src/webhooks/payload.ts';
import { requestExcerpt } from '../../../src/webhooks/sender.ts';
import { assert, oneof, property, string, uint8Array } from '../../support/fast-check.ts';

const links = { baseUrl: 'https://box.test', key: Buffer.alloc(32, 1), now: Date.UTC(2026, 0, 1) };
const MOST = 5 * 1024 * 1024;

function bodyOf(message: Uint8Array): Buffer {
  const { parts } = indexMessage(message);
  const stored = {
    blob: 1,
    redactedFrom: null,
    length: message.length,
    receivedAt: links.now,
    parts: unpackParts(parts),
    trust: null,
  };
  return inboundBody('me@box.test', 7, stored, message, links);
}
const eventOf = (message: Uint8Array): InboundEvent => JSON.parse(bodyOf(message).toString()) as InboundEvent;
const mail = (...lines: string[]): Buffer => Buffer.from(`${lines.join('\r\n')}\r\n`);

test('all fields are there and plain strings, also of a message that has nothing', () => {
  expect(eventOf(Buffer.from('\r\n'))).toEqual({
    type: 'email.inbound',
    mailbox: 'me@box.test',
    message: {
      from: '',
      to: '',
      cc: '',
      subject: '',
      text: expect.any(String) as string,
      html: '',
      messageId: '',
      receivedAt: '2026-01-01T00:00:00.000Z',
      attachments: [],
    },
    trust: null,
  });
});

test('an attachment element says all that is known of it, with a link for a day', () => {
  const [inline, file] = eventOf(
    mail(
      'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/html',
      '',
      '<img src="cid:logo">',
      '--b',
      'Content-Type: image/png',
      'Content-ID: <logo>',
      'Content-Disposition: inline',
      '',
      'png',
      '--b',
      'Content-Type: application/pdf; name="../a\\b.pdf"',
      'Content-Disposition: attachment; filename="../a\\b.pdf"',
      'Content-Transfer-Encoding: base64',
      '',
      'aGVsbG8=',
      '--b--',
    ),
  ).message.attachments;
  expect(inline).toMatchObject({
    contentType: 'image/png',
    inline: true,
    contentId: expect.stringContaining('logo') as string,
  });
  expect(file).toEqual({
    id: 'att_7_3',
    filename: expect.not.stringMatching(/[\\/]/) as string,
    contentType: 'application/pdf',
    size: 5,
    sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    contentId: null,
    inline: false,
    url: expect.stringMatching(
      /^https:\/\/box\.test\/api\/email\/attachments\/att_7_3\?expires=\d+&signature=/,
    ) as string,
  });
});

test.each([
  ['plain text', 'a'],
  ['what JSON escapes in six characters', '\u0001'],
  ['text of three octets a character', '€'],
])('a body stays below 5 MiB: %s', (_what, character) => {
  const message = mail('Subject: large', 'Content-Type: text/plain; charset=utf-8', '', character.repeat(6_000_000));
  const body = bodyOf(message);
  expect(body.length).toBeLessThanOrEqual(MOST);
  expect(body.length).toBeGreaterThan(MOST * 0.9);
  const { truncated } = JSON.parse(body.toString()) as InboundEvent;
  expect(truncated?.fields).toEqual(['text']);
  const url = new URL(truncated?.url ?? '');
  const link = {
    id: url.pathname.split('/').at(-1) ?? '',
    expires: '',
    by: '',
    signature: '',
    ...Object.fromEntries(url.searchParams),
  };
  expect(readAttachmentLink(links, link)).toEqual({ email: 7, path: 'message', by: '' });
});

test('nothing says that it was cut while nothing was', () => {
  expect(eventOf(mail('Subject: small', '', 'x'))).not.toHaveProperty('truncated');
});

test('I8: whatever the octets are, the body is JSON with the same fields', () => {
  const part = oneof(
    uint8Array({ maxLength: 400 }),
    string({ unit: 'binary', maxLength: 200 }).map((text) => Buffer.from(text)),
  );
  const head = Buffer.from('Subject: =?utf-8?B?');
  const shape = Object.keys(eventOf(mail('', 'x')).message);
  assert(
    property(part, part, (a, b) => {
      const event = eventOf(
        Buffer.concat([head, a, Buffer.from('\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n'), b]),
      );
      expect(Object.keys(event.message)).toEqual(shape);
      for (const [name, value] of Object.entries(event.message)) {
        expect(typeof value, name).toBe(name === 'attachments' ? 'object' : 'string');
      }
    }),
    { numRuns: 2000 },
  );
});

test('the history keeps the shape of mail and not what it says', () => {
  const message = mail('From: secret@person.example', 'Subject: secret', 'Message-ID: <id@x>', '', 'secret text');
  const excerpt = requestExcerpt(new URL('https://app.example/hook?token=1'), 'received', bodyOf(message));
  expect(excerpt).toContain('<id@x>');
  expect(excerpt).not.toMatch(/secret|token/);
});
