import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bodyHasher } from '../../mail/auth/dkim-body.ts';
import { dkimRecord } from '../../mail/auth/dkim-key.ts';
import { signHeaders } from '../../mail/auth/dkim-sign.ts';
import { hop, HOP_ZONE, sealed } from '../support/arc-chain.ts';
import { testKeys } from '../support/dkim.ts';
import { forwardWorld } from '../support/forward-world.ts';
import { testAccount } from '../support/store.ts';

const SCRIPT = join(import.meta.dirname, 'verify_arc.py');
const HEADER = 'From: you@x.example\r\nTo: me@box.test\r\nSubject: a\r\n\tb  c\r\nMIME-Version: 1.0\r\n';
const BODY = 'one \t\r\n.dot\r\n\r\nh\xc3\xa4llo\r\n\r\n\r\n';
const AUTHOR = testKeys.map((key) => ({ ...key, domain: 'x.example' }));
const ZONE: Record<string, readonly string[]> = {
  ...(HOP_ZONE as Record<string, readonly string[]>),
  ...Object.fromEntries(
    [...testKeys, ...AUTHOR].map((key) => [
      `TXT ${key.selector}._domainkey.${key.domain}`,
      [dkimRecord(key.key)] as const,
    ]),
  ),
};

/** A message with both signatures of its author. */
async function authored(): Promise<Buffer> {
  const hasher = bodyHasher();
  hasher.update(Buffer.from(BODY, 'latin1'));
  const made = await signHeaders(Buffer.from(HEADER), hasher.digest(), AUTHOR, Date.now());
  return Buffer.concat([made, Buffer.from(`${HEADER}\r\n${BODY}`, 'latin1')]);
}

async function after(hops: number): Promise<Buffer> {
  let message = await authored();
  for (let i = 1; i <= hops; i++) message = await hop(message, i);
  return message;
}

interface Found {
  arc: [cv: string, why: string];
  dkim: boolean[];
}

function dkimpy(messages: readonly Buffer[]): Found[] {
  const input = JSON.stringify({
    records: Object.fromEntries(Object.entries(ZONE).map(([name, [text]]) => [name.replace('TXT ', ''), text])),
    messages: messages.map((message) => message.toString('base64')),
  });
  return JSON.parse(execFileSync('/usr/bin/python3', [SCRIPT], { input, encoding: 'utf8' })) as Found[];
}

test('dkimpy takes our seal on chains of 0, 1 and 3, and calls a broken one broken', async () => {
  const chains = [0, 1, 3];
  const messages = await Promise.all(
    chains.map(async (hops) => sealed(await after(hops), testKeys, hops === 0 ? 'none' : 'pass')),
  );
  const broken = Buffer.from((await after(2)).toString('latin1').replace('one', 'two'), 'latin1');
  const answers = dkimpy([...messages, await sealed(broken, testKeys, 'fail'), broken]);
  expect(answers.map(({ arc: [cv, why] }) => `${cv}: ${why}`)).toEqual([
    'pass: success',
    'pass: success',
    'pass: success',
    expect.stringMatching(/^fail/) as string,
    expect.stringMatching(/^fail/) as string,
  ]);
  // The author's two signatures hold beneath every seal.
  expect(answers.slice(0, 3).map((found) => found.dkim)).toEqual(chains.map(() => [true, true]));
});

test('what leaves by a forward verifies with dkimpy: the chain, our signatures, and its author’s', async () => {
  await using world = await forwardWorld({ verify: true });
  await testAccount(world.box.store, 'me');
  Object.assign(world.zone, ZONE);
  await world.set('me', 'you@y.example');
  const forged = Buffer.from('Authentication-Results: mail.box.test; dmarc=pass header.from=bank.example\r\n');
  for (const hops of [0, 1, 3]) await world.accept(['me'], { raw: Buffer.concat([forged, await after(hops)]) });
  const copies = (await world.leaving()).map(({ octets }) => octets);
  expect(copies.map((octets) => /^ARC-Seal: i=(\d)/.exec(octets.toString('latin1'))?.[1])).toEqual(['1', '2', '4']);
  for (const { arc, dkim } of dkimpy(copies)) {
    expect(arc).toEqual(['pass', 'success']);
    expect(dkim).toEqual([true, true, true, true]);
  }
  for (const octets of copies) {
    expect(octets.toString('latin1').endsWith(`\r\n\r\n${BODY}`)).toBe(true);
    expect(octets.toString('latin1')).not.toContain('bank.example');
  }
});
