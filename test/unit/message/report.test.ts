import { describe, expect, test } from 'vitest';
import { formatAddress } from '../../../mail/message/address.ts';
import { composeDeliveryReport } from '../../../mail/message/delivery-report.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { unpackParts } from '../../../mail/message/parts.ts';
import { quotedSenders, readReport, type ParsedReport, statusFor } from '../../../mail/message/report.ts';

const parsed = (text: string): [Buffer, ReturnType<typeof unpackParts>] => {
  const octets = Buffer.from(text.replace(/\r?\n/g, '\r\n'));
  return [octets, unpackParts(indexMessage(octets).parts)];
};
const read = (text: string): ParsedReport => readReport(...parsed(text));

/** A report whose machine part is this. */
const dsn = (status: string, type = 'message/delivery-status', quoted = ''): string =>
  `From: MAILER-DAEMON@x.example
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b

It failed.
--b
Content-Type: ${type}

${status}
--b
Content-Type: text/rfc822-headers

${quoted}Subject: hello

--b--
`;

const PER_MESSAGE = 'Reporting-MTA: dns; mx.x.example\nArrival-Date: today\n\n';
const of = (fields: string): string => `${PER_MESSAGE}${fields}`;

describe('RFC 3464', () => {
  test('says who, what, and in whose words', () => {
    const report = read(
      dsn(
        of(`Original-Recipient: rfc822;Joe@x.example
Final-Recipient: rfc822; joseph@y.example
Action: failed (really)
Status: 5.1.1 (bad mailbox)
Remote-MTA: dns; mx.y.example
Diagnostic-Code: smtp; 550 5.1.1
 no such user`),
      ),
    );
    expect(report).toEqual({
      kind: 'status',
      all: [
        {
          action: 'failed',
          status: '5.1.1',
          text: '550 5.1.1 no such user',
          host: 'mx.y.example',
          about: ['joe@x.example', 'joseph@y.example'],
        },
      ],
    });
    expect(statusFor(report, 'joe@x.example')).toMatchObject({ action: 'failed', status: '5.1.1' });
  });

  test('our own reports are understood', () => {
    const bytes = composeDeliveryReport({
      host: 'box.test',
      from: { address: { local: 'mailer-daemon', domain: 'box.test' } },
      to: { local: 'me', domain: 'box.test' },
      date: 0,
      messageId: '<1@box.test>',
      recipients: [{ address: { local: 'you', domain: 'x.example' }, action: 'delayed', status: '4.4.1' }],
      originalHeader: Buffer.from('Subject: hi\r\n'),
    });
    expect(statusFor(read(bytes.toString()), 'you@x.example')).toMatchObject({ action: 'delayed', status: '4.4.1' });
  });

  test('the answer of the server knows better than a status that says nothing', () => {
    const text = of(
      'Final-Recipient: rfc822; a@x\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 #5.1.1 no',
    );
    expect(statusFor(read(dsn(text)), 'a@x.example')?.status).toBe('5.1.1');
  });

  test('of several recipients ours counts; of strangers only what all of them have', () => {
    const one = (who: string, action: string, status: string): string =>
      `Final-Recipient: rfc822; ${who}\nAction: ${action}\nStatus: ${status}\n`;
    const mixed = read(
      dsn(of([one('a@x.example', 'failed', '5.1.1'), one('b@x.example', 'delivered', '2.0.0')].join('\n'))),
    );
    expect(statusFor(mixed, 'a@x.example')?.action).toBe('failed');
    expect(statusFor(mixed, 'b@x.example')?.action).toBe('delivered');
    expect(statusFor(mixed, 'list@x.example')).toBeUndefined();
  });

  test.each([
    ['no machine part', dsn('', 'text/plain')],
    ['no paragraph about anybody', dsn(PER_MESSAGE)],
    ['an action nobody knows', dsn(of('Final-Recipient: rfc822; a@x\nAction: exploded\nStatus: 5.1.1'))],
    ['no status', dsn(of('Final-Recipient: rfc822; a@x\nAction: failed'))],
    [
      'an address where the status belongs',
      dsn(of('Final-Recipient: rfc822; a@x\nAction: failed\nStatus: 195.1.1.20')),
    ],
    ['only the top of it', 'Content-Type: multipart/report; boundary=b\n\n--b'],
  ])('%s says nothing', (_, text) => {
    expect(statusFor(read(text), 'a@x.example')).toBeUndefined();
  });

  test('hostile fields come out as one short clean line', () => {
    const evil = `550 5.1.1 \x1b[31mred\x07 \u202eevil\u2028X-Injected: yes ${'A'.repeat(100_000)}`;
    const report = read(
      dsn(
        of(
          `Final-Recipient: rfc822; a@x.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; ${evil}\nRemote-MTA: dns; ${evil}`,
        ),
      ),
    );
    const status = statusFor(report, 'a@x.example');
    for (const text of [status?.text ?? 'none', status?.host ?? 'none']) {
      expect(text.length).toBeLessThanOrEqual(500);
      expect(text).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]/);
    }
  });

  test('10,000 paragraphs are read as far as they count', () => {
    const many = 'Final-Recipient: rfc822; a@x.example\nAction: failed\nStatus: 5.1.1\n\n'.repeat(10_000);
    const report = read(dsn(of(many)));
    expect(report.kind === 'status' && report.all.length).toBeLessThanOrEqual(101);
  });
});

describe('bounces in words', () => {
  const words = (body: string): string => `From: postmaster@x.example\nSubject: failure notice\n\n${body}\n`;

  test('have to name the recipient and a code that says never', () => {
    const text = 'Hi. This is the qmail-send program at x.example.\n\n<you@x.example>:\n550 5.1.1 no such user\n';
    expect(statusFor(read(words(text)), 'you@x.example')).toMatchObject({
      action: 'failed',
      status: '5.1.1',
      text: '550 5.1.1 no such user',
    });
    expect(statusFor(read(words(text)), 'other@x.example')).toBeUndefined();
  });

  test.each([
    'I am away until 5.1. and you@x.example reads nothing',
    'you@x.example runs version 5.1.1.2 at 195.1.1.20',
    'you@x.example: 450 4.2.2 mailbox full, trying on',
    'you@x.example: 550 no such user',
  ])('%s is no bounce', (text) => {
    expect(statusFor(read(words(text)), 'you@x.example')).toBeUndefined();
  });
});

describe('RFC 5965', () => {
  const arf = (type: string): string => `From: fbl@x.example
Content-Type: multipart/report; report-type=feedback-report; boundary=b

--b

This is a complaint.
--b
Content-Type: message/feedback-report

Feedback-Type: ${type}
User-Agent: x/1
Original-Mail-From: <me+tag@box.test>

--b
Content-Type: message/rfc822

Return-Path: <me+path@box.test>
From: me@box.test
Subject: buy

now
--b--
`;

  test.each(['abuse', 'not-spam'])('%s', (type) => expect(read(arf(type))).toEqual({ kind: 'feedback', type }));

  test('the senders that it quotes, in the report and in the message', () => {
    expect(quotedSenders(...parsed(arf('abuse'))).map(formatAddress)).toEqual(['me+tag@box.test', 'me+path@box.test']);
    expect(
      quotedSenders(...parsed(dsn(PER_MESSAGE, undefined, 'Return-Path: <me+p@box.test>\n'))).map(formatAddress),
    ).toEqual(['me+p@box.test']);
  });

  test('a Return-Path of the report itself is not one of the message in it', () => {
    expect(quotedSenders(...parsed('Return-Path: <me+tag@box.test>\nSubject: x\n\nhello\n'))).toEqual([]);
  });
});
