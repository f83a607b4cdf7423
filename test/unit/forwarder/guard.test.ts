import { expect, test } from 'vitest';
import { forwardTrace, checkForward } from '../../../mail/forwarder/loop-guard.ts';
import { readFields } from '../../../mail/message/header.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

const key = Buffer.alloc(32, 7);
const source = 'me@box.example';

function guard(header: string, nullSender = false) {
  return checkForward({ nullSender, fields: readFields(header), source, key });
}

test('a letter from a person goes on', () => {
  expect(guard('From: you@example.org\r\nSubject: Hello\r\nAuto-Submitted: no\r\nPrecedence: list\r\n')).toEqual({
    kind: 'forward',
  });
});

test.each([
  ['the null reverse-path', 'From: you@example.org\r\n', true],
  ['a report', 'Content-Type: multipart/report; report-type=delivery-status\r\n', false],
  ['a report, oddly written', 'content-type:  MULTIPART/Report;\r\n boundary=x\r\n', false],
  ['an automatic reply', 'Auto-Submitted: auto-replied\r\n', false],
  ['something generated', 'Auto-Submitted: auto-generated (cron)\r\n', false],
  ['something notified', 'Auto-Submitted: auto-notified; owner-email="a@b.example"\r\n', false],
  ['a vacation of old', 'Precedence: auto_reply\r\n', false],
  ['junk', 'Precedence: junk\r\n', false],
  ['an autoreply header', 'X-Autoreply: yes\r\n', false],
  ['an autoresponder header', 'X-AutoRespond: on holiday\r\n', false],
])('%s stays', (_what, header, nullSender) => {
  expect(guard(header, nullSender)).toEqual({ kind: 'automatic', why: expect.any(String) as string });
});

test.each([
  ['what has come a long way', 'Received: from a by b\r\n'.repeat(31)],
  ['what was forwarded from here before', forwardTrace(source, 'you@example.org', key)],
  ['what was delivered here before', 'Delivered-To: Me@BOX.example\r\n'],
  ['what was delivered to a tag of it', 'Delivered-To: me+spring@box.example\r\n'],
])('%s is a loop', (_what, header) => {
  expect(guard(header)).toEqual({ kind: 'loop', why: expect.any(String) as string });
});

test('a marker that somebody made up, or of another address, keeps nothing here', () => {
  expect(guard('X-Mailstead-Forwarded: 1\r\n').kind).toBe('forward');
  expect(guard(forwardTrace('other@box.example', 'x@example.org', key)).kind).toBe('forward');
  expect(guard('Delivered-To: other@box.example\r\nDelivered-To: not an address\r\n').kind).toBe('forward');
});

test('comments without an end take time by their length', async () => {
  const read = (size: number): void =>
    expect(guard(`Auto-Submitted: ${'('.repeat(size)}\r\n`)).toMatchObject({ kind: 'automatic' });
  expect(await growth(read, 200_000)).toBeLessThan(PROPORTIONAL);
});
