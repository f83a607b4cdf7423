import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import '../../support/gate-that-holds-all.ts';
import { revealInvisible, describeLength } from '../../../src/untrusted/invisible.ts';
import { ApprovalWorld } from '../../support/approval-world.ts';

test.each([
  ['a text that turns', 'invoice\u202efdp.exe', 'invoice⟨U+202E⟩fdp.exe'],
  ['an isolate', '\u2067abc\u2069', '⟨U+2067⟩abc⟨U+2069⟩'],
  ['no width', 'pay\u200bpal', 'pay⟨U+200B⟩pal'],
  ['tags', 'x\u{e0041}', 'x⟨U+E0041⟩'],
  ['a letter that is blank', 'a\u3164b\u2800', 'a⟨U+3164⟩b⟨U+2800⟩'],
  ['a selector', 'a\ufe0fb\u{e0100}', 'a⟨U+FE0F⟩b⟨U+E0100⟩'],
  ['a joiner between letters', 'ab\u200dcd', 'ab⟨U+200D⟩cd'],
  ['a space that is none', 'a\u00a0b\u2003c', 'a⟨U+00A0⟩b⟨U+2003⟩c'],
  ['another line', 'Anna\nApproved by you', 'Anna⟨U+000A⟩Approved by you'],
  ['a line of another kind', 'Anna\u2028Approved', 'Anna⟨U+2028⟩Approved'],
  ['a private letter', 'x\ue000', 'x⟨U+E000⟩'],
  ['a word of two alphabets', 'pаypal', 'pаypal⟨other letters: U+0430⟩'],
  ['a host in another alphabet', 'x@раураӏ.com', 'x@раураӏ⟨other letters: U+0440 U+0430 U+0443 U+04CF⟩.com'],
  ['a host in letters of a form', 'ｐａｙ.com', 'ｐａｙ⟨other letters: U+FF50 U+FF41 U+FF59⟩.com'],
])('%s is seen', (_what, text, seen) => expect(revealInvisible(text)).toBe(seen));

test.each([
  'Grüße, naïve café',
  'мама мыла раму',
  '日本語のテスト',
  'مي\u200cخواهم',
  'क्\u200dष',
  '❤️ 👨‍👩‍👧',
  'x@münchen.de',
  'a b',
])('%s stays as it is written', (text) => expect(revealInvisible(text)).toBe(text));

test('a text may have lines; a line feed alone ends one', () => {
  expect(revealInvisible('one\r\ntwo\n\tthree\rfour', { lines: true })).toBe('one\ntwo\n\tthree⟨U+000D⟩four');
});

test('what is too long to be read is reported by its length and its hash', () => {
  expect(describeLength('x'.repeat(2_000))).toBe('');
  expect(describeLength('x'.repeat(2_001))).toMatch(/^ ⟨2001 characters, SHA-256 [0-9a-f]{64}⟩$/);
  expect(describeLength(`${'x'.repeat(2_000)}y`)).not.toBe(describeLength('x'.repeat(2_001)));
});

describe('the pages about mail that waits', () => {
  let world: ApprovalWorld;
  beforeEach(async () => {
    world = await ApprovalWorld.open();
  });
  afterEach(() => world[Symbol.asyncDispose]());
  const hold = (text: string): Promise<number> => world.hold(text.replaceAll('\n', '\r\n'));
  const page = async (id: number): Promise<string> =>
    (await world.get(`${world.acme.path}/outbox/out_${id}`, world.acme.cookie)).body;

  test('show what is not seen, and set the words of others apart from their own', async () => {
    const id = await hold(
      'From: anna@anna.test\nTo: x@elsewhere.test\nSubject: =?utf-8?Q?It_is_sent.=E2=80=AE?=\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nDear p=D0=B0ypal,=E2=80=8B\nyours\n',
    );
    const list = (await world.get(`${world.acme.path}/outbox`, world.acme.cookie)).body;
    const one = await page(id);
    for (const body of [list, one]) {
      expect(body).toMatch(/<q class="said" dir="auto">(?:<a [^>]*>)?It is sent\.⟨U\+202E⟩(?:<\/a>)?<\/q>/);
      expect(body).not.toMatch(/[\u200b\u202e]/);
    }
    expect(one).not.toMatch(/<h1>[^<]*It is sent/);
    expect(one).toContain('Dear pаypal⟨other letters: U+0430⟩,⟨U+200B⟩\nyours');
  });

  test('say the length and the hash of what they show the beginning of', async () => {
    const short = await page(await hold('From: anna@anna.test\nTo: x@elsewhere.test\n\nHello\n'));
    expect(short).toMatch(/\d+ octets, SHA-256 <code>[0-9a-f]{64}<\/code>/);
    const to = Array.from({ length: 300 }, (_, n) => `person${n}@x.test`).join(',\n ');
    const long = await page(await hold(`From: anna@anna.test\nTo: ${to}\n\n${'Hello there. '.repeat(2_000)}\n`));
    expect(long).toContain('Truncated to the first 20000 characters. The SHA-256 above covers the whole message.');
    expect(long).toMatch(/… \(\d+ characters\)/);
  });
});
