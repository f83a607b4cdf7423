import { afterEach, beforeEach, expect, test } from 'vitest';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { parseSearch } from '../../mail/imap/search/parse.ts';
import { Decoder } from '../../mail/imap/wire/decoder.ts';
import { command } from '../../mail/store/engine/types.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { deliverMail } from '../support/deliver-mail.ts';
import { type TestStore, testAccount, testStore } from '../support/store.ts';

/** More than the pages of 200 of which the second reads bodies ahead. */
const COUNT = 450;
const NEEDLE = 'zebrafinch';

const cutOff = command('test-cut-off', async (tx, { blob }: { blob: number }): Promise<void> => {
  await tx.run('UPDATE blob SET data = substr(data, 1, 20) WHERE id = ?', blob);
});

let box: TestStore;
let imap: StoreBackend;
let account: number;
let inbox: number;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, cutOff] });
  ({ account, inbox } = await testAccount(box.store));
  imap = new StoreBackend(box.store, account, () => box.clock.now);
});

afterEach(() => box[Symbol.asyncDispose]());

/** Texts of several kinds; every ninth has the needle. */
function textOf(n: number): string {
  const word = n % 9 === 0 ? NEEDLE.toUpperCase() : 'nothing';
  const kinds = [
    `Subject: ${n}\r\n\r\nSome ${word} here\r\n`,
    `Subject: ${n}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGrößen und ${word}\r\n`,
    `Subject: ${n}\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(`a ${word}`).toString('base64')}\r\n`,
    `Subject: ${word} ${n}\r\n\r\nIn the header\r\n`,
    `Subject: ${n}\r\nContent-Type: text/html\r\n\r\n<p>${word.slice(0, 3)}<b>${word.slice(3)}</b></p>\r\n`,
  ];
  return n % 150 === 36 ? `Subject: ${n}\r\n\r\n${'x\r\n'.repeat(30_000)}${word}` : (kinds[n % kinds.length] as string);
}

async function fill(): Promise<void> {
  await deliverMail(box.store, { account, to: 'me@box.test' }, `Subject: 1\n\nA delivered one has a trace\n`);
  await append(Array.from({ length: COUNT - 1 }, (_, i) => Buffer.from(textOf(i + 2))));
}

async function append(octets: readonly Buffer[]): Promise<void> {
  const messages = [];
  for (const each of octets) {
    const sink = imap.append(0);
    if ('kind' in sink) throw new Error(sink.kind);
    await sink.write(each);
    await sink.close();
    messages.push({ sink, flags: { bits: 0, keywords: [] }, receivedAt: undefined });
  }
  const mailbox = (await imap.mailbox('INBOX'))!;
  expect(await imap.finishAppends({ mailbox, messages })).toMatchObject({ kind: 'appended' });
}

async function find(text: string): Promise<number[]> {
  const view = await imap.open(inbox);
  const parsed = parseSearch(new Decoder(Buffer.from(text)));
  if (parsed.kind !== 'search') throw new Error(parsed.kind);
  const found = await imap.search(inbox, view, parsed.program);
  view.close();
  if ('kind' in found) throw new Error(found.kind);
  return [...found];
}

const upTo = Array.from({ length: COUNT }, (_, i) => i + 1);

test('bodies that are read ahead are searched as those that are read alone, also beside a damaged one', async () => {
  await fill();
  const expected = upTo.filter((n) => n > 1 && n % 9 === 0);
  expect(await find(`TEXT ${NEEDLE}`)).toEqual(expected);
  expect(await find(`BODY ${NEEDLE}`)).toEqual(expected.filter((n) => n % 5 !== 3 || n % 150 === 36));
  // Headers decide most, so that no bodies are read ahead.
  expect(await find(`SUBJECT 27 BODY ${NEEDLE}`)).toEqual([27, 270, 279]);
  expect(await find('TEXT trace')).toEqual([1]);
  const [row] = await imap.rows(inbox, [405], { structure: false });
  await box.store.write(cutOff, { blob: row?.content.blob ?? 0 });
  expect(await find(`BODY ${NEEDLE}`)).not.toContain(405);
  expect(await find(`BODY ${NEEDLE}`)).toContain(414);
});

test('octets that are no text in UTF-8 end no search of the others', async () => {
  await append([
    Buffer.from('Subject: Gr\u00fc\u00dfe\r\nX-Kind: old\r\n\r\nzebrafinch \u00e4\r\n', 'latin1'),
    Buffer.from('Subject: none\r\nX-Kind: \0\r\n\r\nzebra\0finch\r\n'),
    Buffer.from('Subject: plain\r\nX-Kind: new\r\n\r\nZebrafinch\r\n'),
  ]);
  expect(await find('HEADER X-Kind old')).toEqual([1]);
  expect(await find('HEADER X-Kind new')).toEqual([3]);
  expect(await find('SUBJECT plain')).toEqual([3]);
  // Twice as many pages as that which says if bodies are read ahead.
  await append(Array.from({ length: 450 }, () => Buffer.from('Subject: more\r\n\r\n\u00e4\xff\r\n', 'latin1')));
  expect(await find('TEXT zebrafinch')).toEqual([1, 3]);
  await append([
    Buffer.from('Subject: last\r\n\r\nzebra\0finch\r\n'),
    Buffer.from('Subject: last\r\n\r\nZebraFinch\r\n'),
  ]);
  expect(await find('BODY zebrafinch')).toEqual([1, 3, 455]);
});
