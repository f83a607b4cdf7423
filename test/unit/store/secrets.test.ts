import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openKeyFile } from '../../../mail/store/blob/key-file.ts';
import { SecretBox, SecretUnreadable } from '../../../mail/store/blob/secrets.ts';

const box = new SecretBox(Buffer.alloc(32, 1));
const other = new SecretBox(Buffer.alloc(32, 2));
const secret = Buffer.from('-----BEGIN PRIVATE KEY-----');
const sealed = box.seal('dkim', 'dkim_key', 7, secret);

describe('a sealed secret', () => {
  test('opens for the same purpose, table and row, and is never sealed the same twice', () => {
    expect(box.open('dkim', 'dkim_key', 7, sealed)).toEqual(secret);
    expect(new SecretBox(Buffer.alloc(32, 1)).open('dkim', 'dkim_key', 7, sealed)).toEqual(secret);
    expect(box.seal('dkim', 'dkim_key', 7, secret)).not.toEqual(sealed);
    expect(Buffer.from(sealed).includes(secret.subarray(0, 8))).toBe(false);
    expect(box.open('p', 't', 'ref', box.seal('p', 't', 'ref', Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  test.each<[string, () => Buffer]>([
    ['for another purpose', () => box.open('webhook', 'dkim_key', 7, sealed)],
    ['in another table', () => box.open('dkim', 'credential', 7, sealed)],
    ['in another row', () => box.open('dkim', 'dkim_key', 8, sealed)],
    ['under another key', () => other.open('dkim', 'dkim_key', 7, sealed)],
    ['cut short', () => box.open('dkim', 'dkim_key', 7, sealed.subarray(0, -1))],
    ['when there is nothing', () => box.open('dkim', 'dkim_key', 7, Buffer.alloc(0))],
  ])('does not open %s', (_, open) => {
    expect(open).toThrow(SecretUnreadable);
  });

  test('does not open with any one bit changed', () => {
    for (let at = 0; at < sealed.length * 8; at += 1) {
      const bent = Buffer.from(sealed);
      bent[at >> 3] = (bent[at >> 3] ?? 0) ^ (1 << (at & 7));
      expect(() => box.open('dkim', 'dkim_key', 7, bent)).toThrow(SecretUnreadable);
    }
  });
});

test('the check value distinguishes its own key from another', () => {
  expect(box.verifyCheck(box.checkValue())).toBe(true);
  expect(other.verifyCheck(box.checkValue())).toBe(false);
  expect(box.verifyCheck(Buffer.from('something else'))).toBe(false);
});

test('subkeys are stable and differ by purpose', () => {
  expect(box.subkey('a')).toEqual(new SecretBox(Buffer.alloc(32, 1)).subkey('a'));
  expect(box.subkey('a')).not.toEqual(box.subkey('b'));
  expect(box.subkey('a')).not.toEqual(other.subkey('a'));
});

describe('the key file', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'key-'));
  });
  afterAll(() => rm(dir, { recursive: true }));

  test('is made once, 0600, and found again', async () => {
    const path = join(dir, 'deep', 'secret.key');
    const made = await openKeyFile(path, { create: true });
    const bytes = await readFile(path);
    const found = await openKeyFile(path, { create: true });
    if (!(made instanceof SecretBox) || !(found instanceof SecretBox)) throw new Error('no key');
    expect(found.verifyCheck(made.checkValue())).toBe(true);
    expect(bytes).toHaveLength(32);
    expect(await readFile(path)).toEqual(bytes);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(dir, 'deep'))).toEqual(['secret.key']);
  });

  test('made by several at once is one', async () => {
    const path = join(dir, 'raced.key');
    const boxes = await Promise.all(Array.from({ length: 8 }, () => openKeyFile(path, { create: true })));
    const [first] = boxes;
    if (!(first instanceof SecretBox)) throw new Error('no key');
    for (const one of boxes) expect(one instanceof SecretBox && one.verifyCheck(first.checkValue())).toBe(true);
  });

  test('is not made anew for an old database', async () => {
    const path = join(dir, 'lost.key');
    expect(await openKeyFile(path, { create: false })).toEqual({ problem: expect.stringContaining('is missing') });
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  test.each<[string, Buffer, number, RegExp]>([
    ['too short', Buffer.alloc(31), 0o600, /31 octets instead of 32/],
    ['empty', Buffer.alloc(0), 0o600, /0 octets instead of 32/],
    ['readable by others', Buffer.alloc(32), 0o644, /is readable by other users: run "chmod 600/],
  ])('that is %s is refused with a sentence and left alone', async (name, bytes, mode, sentence) => {
    const path = join(dir, `${name}.key`);
    await writeFile(path, bytes);
    await chmod(path, mode);
    expect(await openKeyFile(path, { create: true })).toEqual({ problem: expect.stringMatching(sentence) });
    expect(await readFile(path)).toEqual(bytes);
  });

  test('that is a directory is refused with a sentence', async () => {
    expect(await openKeyFile(dir, { create: true })).toEqual({
      problem: expect.stringContaining('not a regular file'),
    });
  });
});
