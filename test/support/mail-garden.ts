import { jmapId } from '../../mail/jmap/core/ids.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { createMailbox, removeMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { appendMessage, copyEntries, expunge, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { purgeDeletedFolder, purgeExpunged, deletedMailboxes } from '../../mail/store/retention/purge.ts';
import type { Row } from '../../mail/store/engine/types.ts';
import type { JmapFixture } from './jmap-fixture.ts';
import { rawRows } from './raw-change.ts';

/** A message as the tests write it. */
export interface Spec {
  subject: string;
  from: string;
  to: string;
  cc?: string;
  bcc?: string;
  body: string;
  /** Name of an attached text, and the text. */
  attached?: { name: string; text: string };
  header?: string;
  sentAt: number;
  receivedAt: number;
  /** Message-ID of what it answers. */
  answers?: string;
}

/** An email as a client would see it, read from the rows by the plainest means there are. */
export interface Plant {
  row: number;
  id: string;
  thread: number;
  mailboxes: number[];
  keywords: string[];
  receivedAt: number;
  size: number;
  attach: boolean;
  keys: { subject: string; from: string; to: string; sentAt: number };
  spec: Spec;
}

const NAMES = ['Work', 'Lists'];

/** An account with several mailboxes that grows and changes by the store's own commands. */
export class Garden {
  readonly world: JmapFixture;
  readonly mailboxes: number[];
  /** By blob: copies of an email share it. */
  readonly #specs = new Map<number, Spec>();
  #count = 0;

  private constructor(world: JmapFixture, mailboxes: number[]) {
    this.world = world;
    this.mailboxes = mailboxes;
  }

  static async plant(world: JmapFixture): Promise<Garden> {
    const mailboxes = [world.inbox];
    for (const name of NAMES) {
      const made = await world.box.store.write(createMailbox, { account: world.account, name, role: null });
      if (made.kind !== 'created') throw new Error(made.kind);
      mailboxes.push(made.id);
    }
    return new Garden(world, mailboxes);
  }

  /** Appends a message; answers its Message-ID. */
  async append(spec: Spec, mailbox: number, keywords: readonly string[] = []): Promise<string> {
    const messageId = `<m${++this.#count}@garden.test>`;
    const data = Uint8Array.from(Buffer.from(textOf(spec, messageId)));
    const { world } = this;
    const appended = await world.box.store.write(appendMessage, {
      account: world.account,
      mailbox,
      flags: flagSet(keywords),
      receivedAt: spec.receivedAt,
      data,
      file: null,
      index: indexMessage(data),
    });
    if (appended.kind !== 'appended') throw new Error(appended.kind);
    const [row] = await this.#rows<{ blob: number }>('SELECT max(id) AS blob FROM blob');
    this.#specs.set(row?.blob ?? 0, spec);
    return messageId;
  }

  /** Sets or clears keywords, \Deleted among them, of the n-th entry of a mailbox. */
  async flag(mailbox: number, n: number, how: 'add' | 'remove', keywords: readonly string[]): Promise<void> {
    const uids = await this.#uid(mailbox, n);
    const { account, box } = this.world;
    await box.store.write(storeFlags, { account, mailbox, uids, how, flags: flagSet(keywords), unchangedSince: null });
  }

  async copy(mailbox: number, n: number, to: number, move: boolean): Promise<void> {
    const { account, box } = this.world;
    await box.store.write(copyEntries, { account, mailbox, uids: await this.#uid(mailbox, n), to, move });
  }

  /** Removes the n-th mailbox but the inbox, and makes another of its name. */
  async replace(n: number): Promise<void> {
    const { account, box } = this.world;
    const at = 1 + (n % NAMES.length);
    const name = NAMES[at - 1] ?? '';
    await box.store.write(removeMailbox, { account, name });
    const made = await box.store.write(createMailbox, { account, name, role: null });
    if (made.kind === 'created') this.mailboxes[at] = made.id;
  }

  /** Runs the retention jobs: empties deleted mailboxes and purges expunged messages. */
  async cleanUp(): Promise<void> {
    const { account, box } = this.world;
    for (const { id: mailbox } of await box.store.read(deletedMailboxes, { account: null })) {
      while ((await box.store.write(purgeDeletedFolder, { account, mailbox })) > 0);
    }
    while ((await box.store.write(purgeExpunged, { before: Number.MAX_SAFE_INTEGER })).more);
  }

  async expunge(mailbox: number): Promise<void> {
    const { account, box } = this.world;
    const uids = await this.#rows<{ uid: number }>('SELECT uid FROM entry WHERE mailbox_id = ? LIMIT 200', mailbox);
    await box.store.write(expunge, { account, mailbox, uids: uids.map(({ uid }) => uid) });
  }

  /** Everything that somebody can see now. */
  async all(): Promise<Plant[]> {
    const names = new Map(
      (
        await this.#rows<{ slot: number; lname: string }>(
          'SELECT slot, lname FROM keyword WHERE account_id = ?',
          this.world.account,
        )
      ).map(({ slot, lname }) => [2 ** slot, lname]),
    );
    const entries = (
      await this.#rows<{ mailbox_id: number; email_id: number; flags: number; kw: string | null }>(
        `SELECT n.* FROM entry n JOIN mailbox m ON m.id = n.mailbox_id WHERE m.deleted_at IS NULL AND m.account_id = ?`,
        this.world.account,
      )
    ).filter(({ flags }) => Math.floor(flags / 16) % 2 === 0);
    const emails = await this.#rows<Record<string, number | string>>(
      'SELECT * FROM email WHERE account_id = ?',
      this.world.account,
    );
    return emails.flatMap((email) => {
      const mine = entries.filter((entry) => entry.email_id === email['id']);
      const [first] = mine;
      if (first === undefined) return [];
      const bits = [[1, '$seen'], [2, '$answered'], [4, '$flagged'], [8, '$draft'], ...names] as const;
      const spec = this.#specs.get(Number(email['blob_id']));
      if (spec === undefined) throw new Error('an email of unknown origin');
      return [
        {
          row: Number(email['id']),
          id: jmapId('email', Number(email['id'])),
          thread: Number(email['thread_id']),
          mailboxes: mine.map((entry) => entry.mailbox_id),
          keywords: [
            ...bits.filter(([bit]) => Math.floor(first.flags / bit) % 2 === 1).map(([, name]) => name),
            ...(first.kw ?? '').split(' ').filter((name) => name !== ''),
          ],
          receivedAt: Number(email['received_at']),
          size: Number(email['size']),
          attach: email['attach'] === 1,
          keys: {
            subject: String(email['subj']),
            from: String(email['from_d']),
            to: String(email['to_d']),
            sentAt: Number(email['sent_at']),
          },
          spec,
        },
      ];
    });
  }

  async #uid(mailbox: number, n: number): Promise<number[]> {
    const uids = await this.#rows<{ uid: number }>('SELECT uid FROM entry WHERE mailbox_id = ? ORDER BY uid', mailbox);
    return uids.length === 0 ? [] : [uids[n % uids.length]?.uid ?? 0];
  }

  #rows<T extends Row>(sql: string, ...params: (number | string)[]): Promise<T[]> {
    return rawRows<T>(this.world.box.store, sql, ...params);
  }
}

function flagSet(keywords: readonly string[]): { bits: number; keywords: string[] } {
  const system = new Map([
    ['$seen', 1],
    ['$answered', 2],
    ['$flagged', 4],
    ['$draft', 8],
    ['\\deleted', 16],
  ]);
  return {
    bits: keywords.reduce((bits, name) => bits | (system.get(name) ?? 0), 0),
    keywords: keywords.filter((name) => !system.has(name)),
  };
}

function textOf(spec: Spec, messageId: string): string {
  const { subject, from, to, cc, bcc, body, attached, header, sentAt, answers } = spec;
  const head = [
    `Message-ID: ${messageId}`,
    `Date: ${new Date(sentAt).toUTCString()}`,
    `Subject: ${subject}`,
    `From: ${from}`,
    `To: ${to}`,
    ...(cc === undefined ? [] : [`Cc: ${cc}`]),
    ...(bcc === undefined ? [] : [`Bcc: ${bcc}`]),
    ...(header === undefined ? [] : [header]),
    ...(answers === undefined ? [] : [`In-Reply-To: ${answers}`, `References: ${answers}`]),
  ];
  const plain = ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit', '', body];
  if (attached === undefined) return [...head, ...plain, ''].join('\r\n');
  const file = [
    `Content-Type: text/csv; charset=utf-8; name="${attached.name}"`,
    `Content-Disposition: attachment; filename="${attached.name}"`,
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(attached.text).toString('base64'),
  ];
  const parts = ['--b', ...plain, '--b', ...file, '--b--', ''];
  return [...head, 'Content-Type: multipart/mixed; boundary=b', '', ...parts].join('\r\n');
}
