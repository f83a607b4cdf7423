import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { indexMessage } from '../../mail/message/indexer.ts';
import { addAccount } from '../../mail/store/account/account.ts';
import { addDomain } from '../../mail/store/address/domain.ts';
import { appendMessage } from '../../mail/store/mailbox/entry-commands.ts';
import { createMailbox, findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { quiet } from '../../mail/log.ts';
import { MailStore } from '../../mail/store/store.ts';

/** Words by rank, as they come in texts: the first in nearly every one, the last in hardly any. */
const VOCABULARY = 60_000;
const CJK = ['部署方案', '会議', '東京', '資料', '報告', '予算', '회의', '京都'];
/** Commands under way at a time. */
const AT_ONCE = 256;
const AUTHORS = 997;

export interface BigAccount {
  account: number;
  inbox: number;
  archive: number;
}

export interface Filling {
  messages: number;
  /** Called every 10,000 messages. */
  progress?: (done: number) => void;
}

/** The n-th word of the texts; 0 is the commonest. */
export function wordOf(rank: number): string {
  let word = '';
  for (let n = rank + 30; n > 0; n = Math.floor(n / 20)) word += 'aeiou'[n % 5]! + 'bdfgklmnprstvz'[n % 14]!;
  return word;
}

/** Makes an account with so many messages by the store's own command: three quarters in the inbox, the rest archived. */
export async function bigAccount(store: MailStore, { messages, progress }: Filling): Promise<BigAccount> {
  const made = await emptyAccount(store);
  const random = generator(1);
  const under = new Set<Promise<unknown>>();
  for (let n = 0; n < messages; n++) {
    const data = Uint8Array.from(Buffer.from(messageText(n, random)));
    const written = store.write(appendMessage, {
      account: made.account,
      mailbox: n % 4 === 3 ? made.archive : made.inbox,
      flags: { bits: n % 10 === 0 ? 0 : n % 50 === 1 ? 5 : 1, keywords: n % 100 === 2 ? ['$important'] : [] },
      receivedAt: Date.UTC(2020, 0, 1) + n * 600_000,
      data,
      file: null,
      index: indexMessage(data),
    });
    const done = written.finally(() => under.delete(done));
    under.add(done);
    if (under.size >= AT_ONCE) await Promise.race(under);
    if (n % 10_000 === 9_999) progress?.(n + 1);
  }
  await Promise.all(under);
  return made;
}

/** The same in a data directory in which nothing runs; says how far it is. */
export async function fillDirectory(dataDir: string, messages: number): Promise<BigAccount> {
  await using store = await MailStore.open({
    dataDir,
    engine: new URL('../../src/start/store-thread.ts', import.meta.url),
    keepFree: 0,
    clock: Date.now,
    log: quiet,
    meter: quiet,
    fatal: (error) => {
      throw error;
    },
  });
  const progress = (done: number): void => void process.stderr.write(`${done} messages\n`);
  return await bigAccount(store, { messages, progress });
}

/** Everybody who wrote to it has been written to. */
export function fillContacts(dataDir: string, account: number): void {
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'));
  const meet = db.prepare('INSERT INTO correspondent (account_id, key, since) VALUES (?, ?, ?)');
  db.exec('BEGIN');
  for (let n = 0; n < AUTHORS; n++) meet.run(account, `p${n}@remote.example`, Date.UTC(2020, 0, 1));
  db.exec('COMMIT');
}

async function emptyAccount(store: MailStore): Promise<BigAccount> {
  const domain = await store.write(addDomain, { tenant: 1, name: 'big.test', verified: true });
  if (domain.kind === 'taken') throw new Error('the domain is taken');
  const added = await store.write(addAccount, {
    tenant: 1,
    domain: domain.id,
    address: 'big@big.test',
    key: 'big@big.test',
    salt: new Uint8Array(16),
    iterations: 4096,
    credential: {
      ref: 'big',
      kind: 'mailbox',
      name: 'password',
      scopes: ['imap', 'smtp', 'jmap'],
      storedKey: new Uint8Array(32),
      serverKey: new Uint8Array(32),
      sealed: null,
      expiresAt: null,
    },
  });
  if (added.kind !== 'added') throw new Error(added.kind);
  const { account } = added;
  const inbox = await store.read(findMailbox, { account, name: 'INBOX' });
  const archive = await store.write(createMailbox, { account, name: 'Old', role: null });
  if (inbox === undefined || archive.kind !== 'created') throw new Error('no mailboxes');
  return { account, inbox: inbox.id, archive: archive.id };
}

/** About 800 characters. A third are answers to a message of the last hundred. */
function messageText(n: number, random: () => number): string {
  const word = (): string => wordOf(Math.floor(VOCABULARY ** random()) - 1);
  const words = (count: number): string => Array.from({ length: count }, word).join(' ');
  const answers = n > 100 && random() < 0.33 ? n - 1 - Math.floor(random() * 100) : undefined;
  const subject = answers === undefined ? `${words(4)} ${n}` : 'Re: talk';
  const cjk = n % 20 === 0 ? `${CJK[Math.floor(random() * CJK.length)] ?? ''}をご確認ください。` : '';
  const lines = Array.from({ length: 10 }, () => words(11));
  return [
    `Message-ID: <${n}@big.test>`,
    ...(answers === undefined ? [] : [`In-Reply-To: <${answers}@big.test>`, `References: <${answers}@big.test>`]),
    `Date: Thu, 01 Jan 2026 00:00:00 +0000`,
    `From: Person ${n % AUTHORS} <p${n % AUTHORS}@remote.example>`,
    'To: Big <big@big.test>',
    `Subject: ${subject}`,
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    ...lines,
    cjk,
    '',
  ].join('\r\n');
}

/** The same numbers each time. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
