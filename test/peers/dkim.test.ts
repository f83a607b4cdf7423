import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bodyHasher } from '../../mail/auth/dkim-body.ts';
import { dkimRecord } from '../../mail/auth/dkim-key.ts';
import { signHeaders, type DkimKey } from '../../mail/auth/dkim-sign.ts';
import { testKeys } from '../support/dkim.ts';
import { dnsServer } from '../support/dns-server.ts';
import { NAME_SERVER, runWithOwnDns } from './own-resolv-conf.ts';

const SCRIPT = join(import.meta.dirname, 'verify_dkim.py');

const HEADERS: Record<string, string> = {
  plain: 'From: me@box.test\r\nTo: you@remote.test\r\nSubject: Hello\r\n',
  folded: 'From: Me\r\n <me@box.test>\r\nSubject: a\r\n\tb\r\n  c  \r\nTo: x@remote.test,\r\n y@remote.test\r\n',
  duplicates: 'From: me@box.test\r\nTo: a@remote.test\r\nTo: b@remote.test\r\nSubject: 1\r\nSubject: 2\r\n',
  'blanks and tabs': 'From: \t me@box.test \t\r\nSubject:  a \t b  \r\nReply-To:\r\n',
  'utf-8': `From: me@box.test\r\nSubject: ${Buffer.from('voilà').toString('latin1')}\r\n`,
  '8-bit that is no UTF-8': 'From: me@box.test\r\nSubject: \xff\xfe\r\n',
  lists: 'From: me@box.test\r\nSender: l@box.test\r\nList-Id: <l.box.test>\r\nList-Post: <mailto:l@box.test>\r\n',
};

/** opendkim calls a message without them a syntax error. */
const DATED = 'Date: Sat, 21 Nov 2026 00:00:00 +0000\r\nMessage-ID: <1@box.test>\r\n';

const BODIES: Record<string, string> = {
  empty: '',
  'empty lines': '\r\n\r\n\r\n',
  plain: 'one\r\ntwo\r\n',
  'no final line end': 'one\r\ntwo',
  'trailing blanks and lines': 'one \t\r\n  two\t three\r\n \r\n\r\n',
  dots: '.\r\n..\r\n.x\r\n',
  '8-bit': 'h\xc3\xa4llo \xff\r\n',
};

async function sign(header: string, body: string, keys: readonly DkimKey[]): Promise<Buffer> {
  const hasher = bodyHasher();
  hasher.update(Buffer.from(body, 'latin1'));
  const fields = await signHeaders(Buffer.from(header, 'latin1'), hasher.digest(), keys, Date.now());
  return Buffer.concat([fields, Buffer.from(`${header}\r\n${body}`, 'latin1')]);
}

function recordName(key: DkimKey): string {
  return `${key.selector}._domainkey.${key.domain}`;
}

test('dkimpy takes both signatures of every kind of message', async () => {
  const kinds = Object.entries(HEADERS).flatMap(([h, header]) =>
    Object.entries(BODIES).map(([b, body]) => ({ name: `${h}, ${b}`, header, body })),
  );
  const messages = await Promise.all(kinds.map(({ header, body }) => sign(header, body, testKeys)));
  const input = JSON.stringify({
    records: Object.fromEntries(testKeys.map((key) => [recordName(key), dkimRecord(key.key)])),
    signatures: testKeys.length,
    messages: messages.map((message) => message.toString('base64')),
  });
  const answer = JSON.parse(execFileSync('/usr/bin/python3', [SCRIPT], { input, encoding: 'utf8' })) as unknown[];
  expect(kinds.map(({ name }, at) => [name, answer[at]])).toEqual(kinds.map(({ name }) => [name, [true, true]]));
});

// The tool asks the DNS that /etc/resolv.conf names, at port 53: it gets its own view of that file, which takes root.
test('opendkim takes the RSA signature', async () => {
  const rsa = testKeys.filter((key) => key.algorithm === 'rsa-sha256');
  const zone = Object.fromEntries(rsa.map((key) => [`TXT ${recordName(key)}`, [dkimRecord(key.key)]]));
  await using dns = await dnsServer(zone, { host: NAME_SERVER, port: 53 });
  for (const [name, header] of Object.entries(HEADERS)) {
    if (name === 'duplicates') continue; // two To fields are a syntax error for opendkim as well
    const message = await sign(`${header}${DATED}`, BODIES['trailing blanks and lines'] ?? '', rsa);
    const result = await runWithOwnDns(['opendkim-testmsg'], message);
    expect({ name, ...result }).toEqual({ name, status: 0, said: '' });
    const broken = await runWithOwnDns(['opendkim-testmsg'], Buffer.concat([message, Buffer.from('more\r\n')]));
    expect(broken.status, `${name}, with a line more`).not.toBe(0);
  }
  expect(dns.queried.length).toBeGreaterThan(0);
});
