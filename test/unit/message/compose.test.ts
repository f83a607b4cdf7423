import { expect, test } from 'vitest';
import { parseAddress, type Address } from '../../../mail/message/address.ts';
import { composeDeliveryReport, type DeliveryReport } from '../../../mail/message/delivery-report.ts';
import { composeTextMessage } from '../../../mail/message/compose-text.ts';
import { decodeTransfer } from '../../../mail/message/decode.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { unpackParts } from '../../../mail/message/parts.ts';

const address = (text: string): Address => {
  const found = parseAddress(text);
  if (found === undefined) throw new Error(`no address: ${text}`);
  return found;
};

const LETTER = {
  from: { address: address('postmaster@box.test'), name: 'Box "Mail"' },
  to: [{ address: address('ann@example.org'), name: 'Jörg' }],
  subject: 'Hello',
  date: Date.UTC(2026, 10, 20),
  messageId: '<1@box.test>',
  text: 'One.\nTwo.',
};

/** Every line a wire may carry: CRLF ends, 7-bit, at most 998 characters. */
function checkLines(bytes: Buffer): void {
  const text = bytes.toString('latin1');
  expect(text).toMatch(/^(?:[\t\x20-\x7e]{0,998}\r\n)+$/);
}

test('a plain letter', () => {
  const bytes = composeTextMessage(LETTER);
  checkLines(bytes);
  expect(bytes.toString()).toBe(
    [
      'Date: Fri, 20 Nov 2026 00:00:00 +0000',
      'From: "Box \\"Mail\\"" <postmaster@box.test>',
      'To: =?utf-8?B?SsO2cmc=?= <ann@example.org>',
      'Subject: Hello',
      'Message-ID: <1@box.test>',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'One.',
      'Two.',
      '',
    ].join('\r\n'),
  );
});

test.each([
  ['subject', { subject: 'a\r\nBcc: evil@x.test' }],
  ['name', { to: [{ address: address('a@b.test'), name: 'a\r\nBcc: evil@x.test' }] }],
  ['header', { headers: [['X-A', 'a\nBcc: evil@x.test']] as [string, string][] }],
  ['odd line ends', { subject: 'a\u2028Bcc: x\rBcc: y\x85' }],
])('no %s begins another field', (_, change) => {
  const bytes = composeTextMessage({ ...LETTER, ...change });
  checkLines(bytes);
  expect(bytes.toString()).not.toMatch(/^bcc/im);
});

test.each(['grün 你好', 'long '.repeat(100), 'x'.repeat(2000), '=?utf-8?Q?trap?='])(
  'subject %j comes back',
  (subject) => {
    const bytes = composeTextMessage({ ...LETTER, subject });
    checkLines(bytes);
    expect(indexMessage(bytes).subject).toBe(subject.trim());
  },
);

test.each(['grün\n你好', `${'x'.repeat(2000)}\n.\nFrom here`, 'tab\there \n'])('text %j comes back', (text) => {
  const bytes = composeTextMessage({ ...LETTER, text });
  checkLines(bytes);
  const [part] = unpackParts(indexMessage(bytes).parts);
  const body = decodeTransfer(bytes.subarray(part!.bodyOffset), part!.encoding).toString();
  expect(body.replace(/\r\n/g, '\n').trimEnd()).toBe(text.trimEnd());
});

const BOUNCE: DeliveryReport = {
  host: 'mx.box.test',
  from: { address: address('postmaster@box.test'), name: 'Mail Delivery System' },
  to: address('ann@box.test'),
  date: Date.UTC(2026, 10, 21),
  messageId: '<bounce@mx.box.test>',
  envelopeId: 'QQ314159',
  arrivalDate: Date.UTC(2026, 10, 20),
  recipients: [
    {
      address: address('joe@example.org'),
      originalRecipient: 'rfc822;joe@old.example',
      action: 'failed',
      status: '5.1.1',
      remoteMta: 'mx.example.org',
      diagnostic: '550 5.1.1 no such user',
      lastAttempt: Date.UTC(2026, 10, 21),
    },
  ],
  originalHeader: Buffer.from(
    'From: ann@box.test\r\nSubject: =?utf-8?Q?gr=C3=BCn?=\r\nMessage-ID: <orig@box.test>\r\n\r\n',
  ),
};

test('a bounce informs a person and a program', () => {
  const bytes = composeDeliveryReport(BOUNCE);
  checkLines(bytes);
  const index = indexMessage(bytes);
  expect(index.subject).toBe('Your message could not be delivered');
  const parts = unpackParts(index.parts);
  expect(parts.map(({ type, subtype }) => `${type}/${subtype}`)).toEqual([
    'multipart/report',
    'text/plain',
    'message/delivery-status',
    'text/rfc822-headers',
  ]);
  const text = (i: number): string => {
    const part = parts[i]!;
    const body = bytes.subarray(part.bodyOffset, part.bodyOffset + part.bodyLength);
    return decodeTransfer(body, part.encoding).toString().replace(/\r\n/g, '\n');
  };
  expect(text(1)).toContain('Your message "grün"');
  expect(text(1).replace(/\s+/g, ' ')).toContain('There is no such mailbox. Check the address for a typing error');
  expect(text(1)).toContain('mx.example.org said:\n  550 5.1.1 no such user');
  expect(text(2).trim()).toBe(
    [
      'Reporting-MTA: dns; mx.box.test',
      'Original-Envelope-Id: QQ314159',
      'Arrival-Date: Fri, 20 Nov 2026 00:00:00 +0000',
      '',
      'Original-Recipient: rfc822;joe@old.example',
      'Final-Recipient: rfc822; joe@example.org',
      'Action: failed',
      'Status: 5.1.1',
      'Remote-MTA: dns; mx.example.org',
      'Diagnostic-Code: smtp; 550 5.1.1 no such user',
      'Last-Attempt-Date: Sat, 21 Nov 2026 00:00:00 +0000',
    ].join('\n'),
  );
  expect(text(3)).toContain('Message-ID: <orig@box.test>');
  expect(bytes.toString()).toMatch(/^Auto-Submitted: auto-replied\r$/m);
  expect(bytes.toString()).toMatch(/^References: <orig@box.test>\r$/m);
});

test('a delay says until when we try', () => {
  const recipients = [
    { ...BOUNCE.recipients[0]!, action: 'delayed' as const, status: '4.4.1', willRetryUntil: Date.UTC(2026, 10, 25) },
  ];
  const bytes = composeDeliveryReport({ ...BOUNCE, recipients });
  expect(indexMessage(bytes).subject).toBe('Your message is delayed, we keep trying');
  expect(bytes.toString()).toContain('Will-Retry-Until: Wed, 25 Nov 2026 00:00:00 +0000');
  expect(bytes.toString()).toContain('you do not need to send it again');
});

test('words of strangers stay on their line', () => {
  const evil = 'bad\r\nAction: delivered\n\nFinal-Recipient: x\0\x1b[31m ünïcode ' + 'x'.repeat(5000);
  const recipients = [
    { ...BOUNCE.recipients[0]!, diagnostic: evil, remoteMta: evil, originalRecipient: evil, status: evil },
  ];
  const bytes = composeDeliveryReport({
    ...BOUNCE,
    recipients,
    host: evil,
    envelopeId: evil,
    originalHeader: Buffer.from(`Subject: ${evil}`),
  });
  checkLines(bytes);
  const text = bytes.toString();
  expect(text.match(/^Action:/gm)).toHaveLength(2); // ours, and the one in the quoted header
  expect(text).toMatch(/^Status: 5\.0\.0\r$/m);
  expect(unpackParts(indexMessage(bytes).parts)).toHaveLength(4);
});

test('an internationalized recipient is written in 7 bits', () => {
  const recipients = [{ ...BOUNCE.recipients[0]!, address: address('用户@example.org') }];
  const bytes = composeDeliveryReport({ ...BOUNCE, recipients });
  checkLines(bytes);
  expect(bytes.toString()).toContain('Final-Recipient: utf-8; \\x{7528}\\x{6237}@example.org');
});

test.each([
  ['8-bit', 'Subject: gr\xfcn\r\n\r\n'],
  ['huge', `Subject: x\r\n${'X-Pad: y\r\n'.repeat(20_000)}\r\n`],
  ['one long line', `X: ${'y'.repeat(200_000)}\r\n\r\n`],
  ['bare line ends', 'Subject: a\nTo: b\rCc: c\n\n'],
  ['empty', ''],
])('an original header that is %s', (_, header) => {
  const bytes = composeDeliveryReport({ ...BOUNCE, originalHeader: Buffer.from(header, 'latin1') });
  checkLines(bytes);
  expect(bytes.length).toBeLessThan(160_000);
  expect(unpackParts(indexMessage(bytes).parts)).toHaveLength(4);
});
