import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { areWordsTainted } from '../../../mail/agents/taint/content.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { command, query } from '../../../mail/store/engine/types.ts';
import { appendMessages } from '../../../mail/store/mailbox/append-commands.ts';
import { storeFlags } from '../../../mail/store/mailbox/entry-commands.ts';
import { findMailbox } from '../../../mail/store/mailbox/mailbox.ts';
import { changeEmails } from '../../../mail/store/message/email-change-commands.ts';
import { copyEmail, storeEmail } from '../../../mail/store/message/email-commands.ts';
import { importFiles } from '../../../mail/transfer/file-import.ts';
import { ImportLog } from '../../../mail/transfer/import-log.ts';
import { GateWorld } from '../../support/gate-world.ts';

/** An agent policy over the mailbox: then its password is an agent's. */
const govern = command('test-govern', async (tx, account: number): Promise<number> => {
  await tx.run('INSERT INTO agent_policy_account (account_id, policy_id) VALUES (?, 1)', account);
  return (await tx.get<{ id: number }>('SELECT id FROM credential WHERE account_id = ?', account))?.id ?? 0;
});
const keywordsOf = query('test-keywords', async (rx, account: number): Promise<string[]> =>
  (await rx.all<{ name: string }>('SELECT name FROM keyword WHERE account_id = ?', account)).map(({ name }) => name),
);

let world: GateWorld;
let inbox: number;
let credential: number;
/** A message of the mailbox itself. */
let email: number;
let stranger: number;
beforeEach(async () => {
  world = await GateWorld.open([govern]);
  const { account, box } = world;
  credential = await box.store.write(govern, account);
  inbox = (await box.store.read(findMailbox, { account, name: 'INBOX' }))?.id ?? expect.fail('no inbox');
  email = await world.put({ from: 'owner@home.test' });
  stranger = await world.put({ from: 'eve@evil.example' });
});
afterEach(() => world[Symbol.asyncDispose]());

const areLabelsTainted = (): Promise<boolean> =>
  world.box.store.read(areWordsTainted, { account: world.account, kinds: ['labels'] });
const named = (...keywords: string[]) => ({ bits: 0, keywords });
const tooMany = (): string[] => ['tell-eve', ...Array.from({ length: 140 }, (_, i) => `k${i}`)];
const OCTETS = Buffer.from('Subject: x\r\n\r\nx\r\n');
const message = () => ({ data: Uint8Array.from(OCTETS), file: null, index: indexMessage(OCTETS) });

/** STORE with a password that an agent has. */
const store = (uids: readonly number[], keywords: readonly string[], unchangedSince: number | null = null) => {
  const about = { account: world.account, mailbox: inbox, uids, actor: { credential } };
  return world.box.store.write(storeFlags, { ...about, how: 'add', flags: { bits: 0, keywords }, unchangedSince });
};
const append = (keywords: readonly string[]) => {
  const { data, file, index } = message();
  const one = { file, length: data.length, index, flags: { bits: 0, keywords }, receivedAt: 1 };
  const into = { account: world.account, mailbox: inbox, replaces: null, actor: { credential } };
  return world.box.store.write(appendMessages, { ...into, data, messages: [one] });
};
const create = (keywords: readonly string[]) => {
  const where = { account: world.account, mailboxes: [inbox], flags: { bits: 0, keywords }, receivedAt: 1 };
  return world.box.store.write(storeEmail, { ...where, ...message(), by: 'tok_1', ifState: null });
};
const patch = (add: readonly string[], remove: readonly string[]) => {
  const keywords = { kind: 'patch', add: named(...add), remove: named(...remove) } as const;
  const changes = [{ email, keywords, mailboxes: null }];
  return world.box.store.write(changeEmails, { account: world.account, by: 'tok_1', ifState: null, changes });
};
const copy = (keywords: readonly string[]) => {
  const { account } = world;
  const where = { from: account, email, account, mailboxes: [inbox], flags: named(...keywords), receivedAt: null };
  return world.box.store.write(copyEmail, { ...where, by: 'tok_1', ifFromState: null, ifState: null });
};

/** Ways by which an agent names a keyword that others are shown. */
const ENTRANCES: Record<string, () => Promise<unknown>> = {
  'IMAP STORE': () => store([1], ['tell-eve']),
  'IMAP STORE of a message that is not there': () => store([999], ['tell-eve']),
  'IMAP STORE that UNCHANGEDSINCE refuses': () => store([1], ['tell-eve'], 0),
  'IMAP STORE of too many keywords': () => store([1], tooMany()),
  'IMAP APPEND': () => append(['tell-eve']),
  'IMAP APPEND of too many keywords': () => append(tooMany()),
  'Email/set update': () => patch(['tell-eve'], []),
  'Email/set update that adds and removes it': () => patch(['tell-eve'], ['tell-eve']),
  'Email/set update of too many keywords': () => patch(tooMany(), []),
  'Email/set create, or Email/import': () => create(['tell-eve']),
  'Email/set create of too many keywords': () => create(tooMany()),
  'Email/copy': () => copy(['tell-eve']),
  'Email/copy with too many keywords': () => copy(tooMany()),
};

describe.each(Object.entries(ENTRANCES))('%s', (_name, enter) => {
  test('marks the labels if the agent is tainted', async () => {
    await world.read([stranger]);
    await enter();
    expect(await world.box.store.read(keywordsOf, world.account)).toContain('tell-eve');
    expect(await areLabelsTainted()).toBe(true);
  });

  test('marks nothing if it is not', async () => {
    await enter();
    expect(await areLabelsTainted()).toBe(false);
  });
});

describe('an mbox file that a person imports', () => {
  let directory: string;
  beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'mailstead-mbox-'))));
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  /** Imports one message with this header. */
  async function importMessage(...header: string[]): Promise<void> {
    const path = join(directory, 'Old.mbox');
    writeFileSync(path, ['From x Thu Jan  1 00:00:00 2026', ...header, 'Subject: x', '', 'x', ''].join('\n'));
    const { account, box } = world;
    const given = { account, path, folder: undefined, spool: directory, maxOctets: 1e6, pass: 1 };
    const stop = new AbortController().signal;
    await importFiles(box.store, { ...given, clock: () => box.clock.now, stop }, new ImportLog());
    expect(await box.store.read(keywordsOf, account)).toContain('tell-eve');
  }
  const RECEIVED = 'Received: from evil.example by mx.old.example; Thu, 1 Jan 2026 00:00:00 +0000';

  test.each(['X-Keywords: tell-eve', 'X-Mozilla-Keys: tell-eve', 'X-Gmail-Labels: tell-eve'])(
    'marks the labels if the sender may have written them: %s',
    async (field) => {
      await importMessage(RECEIVED, field);
      expect(await areLabelsTainted()).toBe(true);
    },
  );

  test.each([
    ['above the fields of its way', ['X-Gmail-Labels: tell-eve', RECEIVED]],
    ['of a message that no server received', ['X-Keywords: tell-eve']],
  ])('marks nothing if a program wrote them %s', async (_where, header) => {
    await importMessage(...header);
    expect(await areLabelsTainted()).toBe(false);
  });
});
