import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { unpackParts } from '../../mail/message/parts.ts';
import * as fc from '../support/fast-check.ts';
import { testAccount, testStore } from '../support/store.ts';

const FACTS = { flags: { bits: 0, keywords: [] }, receivedAt: 1 };
const HEAD =
  'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=qq\r\n\r\n--qq\r\n\r\ntext\r\n--qq\r\nContent-Type: image/x\r\nContent-Transfer-Encoding:\r\n binary\r\nSubject: y\r\n\r\n';

async function appended(imap: StoreBackend, message: Buffer, chunk = message.length): Promise<number | 'refused'> {
  const sink = imap.append(message.length, { inFile: false, binary: true });
  if ('kind' in sink) throw new Error(sink.kind);
  for (let at = 0; at < message.length; at += chunk) await sink.write(Buffer.from(message.subarray(at, at + chunk)));
  if ((await sink.close()) === undefined) {
    sink.abort();
    return 'refused';
  }
  const mailbox = (await imap.mailbox('INBOX'))!;
  const done = await imap.finishAppends({ mailbox, messages: [{ sink, ...FACTS }] });
  return done.kind === 'appended' ? (done.uids[0] ?? 0) : 'refused';
}

async function stored(imap: StoreBackend, mailbox: number, uid: number): Promise<{ text: string; decoded: Buffer[] }> {
  const [row] = await imap.rows(mailbox, [uid], { structure: true });
  if (row === undefined) throw new Error('missing');
  const octets: Buffer[] = [];
  for (let at = 0; at < row.size; at += 1024 * 1024) octets.push(await imap.bytes(row.content, at, 1024 * 1024));
  const bytes = Buffer.concat(octets);
  const parts = unpackParts(row.structure?.parts ?? '[]').filter(({ encoding }) => encoding === 'base64');
  const decoded = parts.map(({ bodyOffset, bodyLength }) =>
    Buffer.from(bytes.toString('latin1', bodyOffset, bodyOffset + bodyLength), 'base64'),
  );
  return { text: bytes.toString('latin1'), decoded };
}

test('a binary part comes back octet for octet, in base64, whatever its octets are and however it came', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  const part = fc.uint8Array({ maxLength: 400 }).map((octets) => Buffer.concat([Buffer.from([0, 10, 13]), octets]));
  await fc.assert(
    fc.asyncProperty(part, fc.integer({ min: 1, max: 600 }), async (octets, chunk) => {
      const uid = await appended(
        imap,
        Buffer.concat([Buffer.from(HEAD), octets, Buffer.from('\r\n--qq--\r\n')]),
        chunk,
      );
      if (uid === 'refused') throw new Error(uid);
      const { text, decoded } = await stored(imap, inbox, uid);
      expect(decoded.map((one) => one.toString('hex'))).toEqual([octets.toString('hex')]);
      expect(text).toContain('\r\nContent-Transfer-Encoding: base64\r\nSubject: y\r\n');
      expect(text).not.toContain('\0');
    }),
    { numRuns: 30 },
  );
});

test('a large binary part goes through files, and none stays behind but its own', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  const octets = Buffer.alloc(700_001, 'a\0b\nc\r');
  const uid = await appended(imap, Buffer.concat([Buffer.from(HEAD), octets, Buffer.from('\r\n--qq--\r\n')]), 65_536);
  if (uid === 'refused') throw new Error(uid);
  const { decoded } = await stored(imap, inbox, uid);
  expect(decoded[0]?.equals(octets)).toBe(true);
  const files = () =>
    readdirSync(box.store.files.directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.length > 10);
  await expect.poll(() => files().length).toBe(1);
});

test('a NUL octet elsewhere is refused, and a message without one is stored as it came', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const imap = new StoreBackend(box.store, account, () => box.clock.now);
  for (const text of [
    'Subject: x\r\n\r\na\0b\r\n',
    'Subject: \0\r\nContent-Transfer-Encoding: binary\r\n\r\nx',
    '\0',
  ]) {
    expect(await appended(imap, Buffer.from(text))).toBe('refused');
  }
  const plain = 'Subject: x\r\nContent-Transfer-Encoding: binary\r\n\r\nno such octet\r\n';
  const uid = await appended(imap, Buffer.from(plain));
  expect((await stored(imap, inbox, Number(uid))).text).toBe(plain);
  expect(await imap.mailbox('INBOX')).toMatchObject({ total: 1 });
});
