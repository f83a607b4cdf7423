import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { flow } from './flow.ts';
import { mirror, type Mirror } from './mbsync.ts';

const MANY = 2_000;
const NOTHING = { here: { added: 0, flagged: 0, trashed: 0 }, there: { added: 0, flagged: 0, trashed: 0 } };

let box: Box;
let copy: Mirror;
/** Counts of the first run. */
let first: typeof NOTHING;
beforeAll(async () => {
  box = await startBox();
  copy = await mirror(box);
  await fill();
  first = await copy.sync();
});
afterAll(async () => {
  await copy[Symbol.asyncDispose]();
  await box[Symbol.asyncDispose]();
});

const FLAGS = [[], ['\\Seen'], ['\\Answered', '\\Seen'], ['\\Flagged']];

function mail(number: number): string {
  return [
    `From: sender-${number % 17}@example.org`,
    `To: ${box.address}`,
    `Subject: number ${number}`,
    `Message-ID: <${number}@mbsync.example.org>`,
    '',
    ...Array.from({ length: 1 + (number % 40) }, (_, line) => `line ${line} of ${number}`),
    '',
  ].join('\r\n');
}

async function fill(): Promise<void> {
  let number = 0;
  const some = async (): Promise<void> => {
    await using client = await flow(box);
    for (let mine = number++; mine < MANY; mine = number++) {
      await client.append('INBOX', mail(mine), FLAGS[mine % FLAGS.length]);
    }
  };
  await Promise.all(Array.from({ length: 8 }, some));
}

const subject = (text: string): string => /^Subject: (.*?)\r?$/m.exec(text)?.[1] ?? '';

/** Names of files by the subject of the message. */
async function bySubject(folder?: string): Promise<Map<string, string>> {
  const files = await copy.files(folder);
  return new Map(await Promise.all(files.map(async (file) => [subject(await copy.read(file, folder)), file] as const)));
}

test('a mailbox of 2,000 messages is pulled, and a second run has nothing to do', async () => {
  expect(first.here.added).toBe(MANY);
  expect(first.there).toEqual(NOTHING.there);
  expect(await copy.folders()).toEqual(['Archive', 'Drafts', 'INBOX', 'Junk', 'Sent', 'Trash']);
  expect(await copy.sync()).toEqual(NOTHING);

  const files = await bySubject();
  expect(files.size).toBe(MANY);
  for (const number of [0, 1, 2, 3, 777, MANY - 1]) {
    const file = files.get(`number ${number}`) ?? '';
    // mbsync keeps mail with LF line ends and notes its own number in a field.
    const text = (await copy.read(file)).replace(/^X-TUID: .*\n/m, '');
    expect(text.replace(/\n/g, '\r\n')).toBe(mail(number));
    expect(/:2,(\w*)$/.exec(file)?.[1] ?? '').toBe(['', 'S', 'RS', 'F'][number % 4]);
  }
});

test('flags go both ways', async () => {
  const files = await bySubject();
  await copy.flag(files.get('number 0') ?? '', 'FS');
  await copy.flag(files.get('number 1') ?? '', '');
  await using client = await flow(box);
  const lock = await client.getMailboxLock('INBOX');
  await client.messageFlagsAdd({ subject: 'number 12', flagged: false }, ['\\Flagged']); // 12, 120 to 129, 1200 to 1299
  const pushed = await copy.sync();
  expect([pushed.there.flagged, pushed.here.flagged]).toEqual([2, 84]);
  await client.noop();
  const flags = async (subject: string): Promise<string[] | undefined> => {
    const message = (await client.fetchAll({ subject }, { flags: true, envelope: true })).find(
      ({ envelope }) => envelope?.subject === subject,
    );
    return [...(message?.flags ?? [])].sort();
  };
  expect([await flags('number 0'), await flags('number 1')]).toEqual([['\\Flagged', '\\Seen'], []]);
  lock.release();
  expect(await copy.sync()).toEqual(NOTHING);
});

test('new messages go both ways, and so do deletions', async () => {
  const files = await bySubject();
  await copy.add(mail(10_001).replaceAll('\r\n', '\n'));
  await copy.add(mail(10_002).replaceAll('\r\n', '\n'), 'Archive');
  await copy.flag(files.get('number 20') ?? '', 'T');
  await copy.remove(files.get('number 21') ?? '');
  await using client = await flow(box);
  const lock = await client.getMailboxLock('INBOX');
  await client.messageDelete({ subject: 'number 1999' });
  await client.append('INBOX', mail(10_003));
  lock.release();

  const moved = await copy.sync();
  expect([moved.there.added, moved.here.added]).toEqual([2, 1]);
  const after = await bySubject();
  const gone = ['number 20', 'number 21', 'number 1999'].filter((name) => after.has(name));
  expect([gone, after.has('number 10003'), after.size]).toEqual([[], true, MANY - 3 + 2]);
  const again = await client.getMailboxLock('INBOX');
  await client.noop();
  const subjects = (await client.fetchAll('1:*', { envelope: true })).map((message) => message.envelope?.subject ?? '');
  again.release();
  expect(subjects.sort()).toEqual([...after.keys()].sort());
  expect(await client.status('Archive', { messages: true })).toMatchObject({ messages: 1 });
  expect(await copy.sync()).toEqual(NOTHING);
});

test('folders that were made are made on the other side, with what is in them', async () => {
  await using client = await flow(box);
  await client.mailboxCreate('There');
  await client.append('There', mail(1));
  await copy.create('Here');
  await copy.add(mail(2).replaceAll('\r\n', '\n'), 'Here');
  const made = await copy.sync();
  expect([made.there.added, made.here.added]).toEqual([1, 1]);
  expect(await copy.files('There')).toHaveLength(1);
  expect(await client.status('Here', { messages: true })).toMatchObject({ messages: 1 });
  expect(await copy.sync()).toEqual(NOTHING);
});
