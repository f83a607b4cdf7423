import { expect, test } from 'vitest';
import { originalSender, rewriteSender } from '../../../mail/forwarder/srs.ts';
import { formatAddress, parseAddress } from '../../../mail/message/address.ts';

const KEY = Buffer.alloc(32, 7);
const NOW = Date.UTC(2026, 10, 21);
const DAY = 24 * 3_600_000;

function rewritten(text: string, now = NOW): string {
  const sender = parseAddress(text);
  const made = sender && rewriteSender(sender, 'box.example', KEY, now);
  if (made === undefined) throw new Error(text);
  return formatAddress(made);
}

function back(text: string, now = NOW, key = KEY): string | undefined {
  const address = parseAddress(text);
  const found = address && originalSender(address, key, now);
  return found && formatAddress(found);
}

test.each(['you@example.org', 'a+b@sub.example.org', 'UPPER@example.org', "o'neil@example.org", 'x=y@example.org'])(
  '%s comes back, also when its case was changed on the way',
  (text) => {
    const made = rewritten(text);
    expect(made).toMatch(/@box\.example$/);
    expect(back(made)).toBe(text);
    expect(back(made.toLowerCase())?.toLowerCase()).toBe(text.toLowerCase());
  },
);

test('it is good for two weeks, and over the turn of the days', () => {
  for (const now of [NOW, NOW + 1023 * DAY, NOW + 5000 * DAY]) {
    const made = rewritten('you@example.org', now);
    expect(back(made, now + 14 * DAY)).toBe('you@example.org');
    expect(back(made, now + 15 * DAY)).toBeUndefined();
    expect(back(made, now - 2 * DAY)).toBeUndefined();
  }
});

test('nobody else makes one, and none of its parts can be changed', () => {
  const made = rewritten('you@example.org');
  expect(back(made, NOW, Buffer.alloc(32, 8))).toBeUndefined();
  for (let at = 5; at < made.indexOf('@'); at++) {
    const other = made[at] === 'a' ? 'b' : 'a';
    const changed = made.slice(0, at) + other + made.slice(at + 1);
    expect(back(changed), changed).toBeUndefined();
  }
});

test('what does not fit into a local part is not cut', () => {
  const sender = parseAddress(`${'a'.repeat(40)}@example.org`);
  expect(sender && rewriteSender(sender, 'box.example', KEY, NOW)).toBeUndefined();
});
