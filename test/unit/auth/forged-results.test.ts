import { expect, test } from 'vitest';
import { leadingAuthserv, removeForgedResults } from '../../../mail/auth/forged-results.ts';

async function cleaned(message: string, size = 7): Promise<string> {
  async function* chunks(): AsyncIterable<Buffer> {
    for (let at = 0; at < message.length; at += size) yield Buffer.from(message.slice(at, at + size), 'latin1');
  }
  const parts: Buffer[] = [];
  for await (const part of removeForgedResults('mail.box.test', chunks())) parts.push(part);
  return Buffer.concat(parts).toString('latin1');
}

const REST = 'From: you@x.example\r\nAuthentication-Results: mx.x.example; dmarc=pass\r\n\r\nBody\r\n';

test.each([
  'Authentication-Results: mail.box.test; dmarc=pass\r\n',
  'authentication-results:MAIL.Box.Test;dmarc=pass\r\n',
  'Authentication-Results: (a comment)\r\n\tmail.box.test 1;\r\n dmarc=pass\r\n',
  'Authentication-Results : "mail.box.test"; dmarc=pass\r\n',
  'AUTHENTICATION-RESULTS:\r\n mail.box.test; dmarc=pass\r\n',
  'Authentication-Results: mail.box.test\r\n ; 1; dmarc=pass\r\n',
  'Authentication-Results: mail.box.test; 1; dmarc=pass\r\n',
  'Authentication-Results: mail.box.test. 1; dmarc=pass\r\n',
  'Authentication-Results: mail.box.test/1; dmarc=pass\r\n',
  'Authentication-Results: ((nested) "quoted (" \\) ) mail.box.test; dmarc=pass\r\n',
  'Authentication-Results: "m\\ail.box.t\\est"; dmarc=pass\r\n',
  'Authentication-Results: mail.box.test(comment); dmarc=pass\r\n',
  'Authentication-Results: mail.box.te\0st; dmarc=pass\r\n',
  'Authentication-Results:\tmail.box.test\t;dmarc=pass\r\n',
  'Authentication-Results: mail.box.test=; dmarc=pass\r\n',
  'Authentication-Results: (mail.box.test; dmarc=pass\r\n',
  'Authentication-Results: ; mail.box.test; dmarc=pass\r\n',
])('results that claim to be ours go: %j', async (forged) => {
  expect(await cleaned(forged + REST + forged)).toBe(REST + forged);
  expect(await cleaned(`Received: x\r\n${forged}`)).toBe('Received: x\r\n');
});

test.each([
  'Authentication-Results: notmail.box.test; dmarc=pass\r\n',
  'Authentication-Results: mail.box.test.evil.example; dmarc=pass\r\n',
  'X-Authentication-Results: mail.box.test; dmarc=pass\r\n',
  'ARC-Authentication-Results: i=1; mail.box.test; dmarc=pass\r\n',
  'Authentication-Results: mx.example; dmarc=pass (mail.box.test)\r\n',
])('results of others stay: %j', async (others) => {
  expect(await cleaned(others + REST)).toBe(others + REST);
});

test('all else stays octet for octet', async () => {
  const odd = `Subject: \xff\xe9\r\nno field\r\n${REST}`;
  expect(await cleaned(odd)).toBe(odd);
  const long = `X: ${'y'.repeat(2 * 1024 * 1024)}\r\n${REST}`;
  expect((await cleaned(long, 65_536)) === long).toBe(true);
});

test('a header says whose results stand first', () => {
  expect(leadingAuthserv('Authentication-Results: mail.box.test;\r\n\tspf=none\r\n')).toBe('mail.box.test');
  expect(leadingAuthserv('X-Forwarded-For: me@box.test\r\n')).toBeUndefined();
});
