import { deriveReader, markEditedEmail } from '../../mail/agents/taint/content.ts';
import { taintedSince } from '../../mail/agents/taint/taint.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import { ALL_WORDS } from '../../src/agents/tainted-words.ts';

export const HOUR = 3_600_000;
export const WINDOW = 24 * HOUR;

/** `mbx_1`: a password of the mailbox. `tok_9` was created by `tok_1`: they are one reader. */
export const AGENTS = ['tok_1', 'tok_2', 'tok_3', 'mbx_1', 'tok_9'] as const;
export type Agent = (typeof AGENTS)[number];
const readerOf = (agent: Agent): string => (agent === 'tok_9' ? 'tok_1' : agent);
export const byPassword = (agent: Agent): boolean => agent === 'mbx_1';
export const identityOf = (agent: Agent) => ({
  reader: readerOf(agent),
  credential: agent,
  byPassword: byPassword(agent),
});

/** Words outside of messages; uploads are marked one by one, and stored for a day. */
export const KINDS = ALL_WORDS;

export const derive = command('test-derive', (tx) => deriveReader(tx, 'tok_9', 'tok_1'));
/** Makes the password of a mailbox an agent's. */
export const govern = command('test-govern', async (tx, account: number): Promise<number> => {
  await tx.run('INSERT INTO agent_policy_account (account_id, policy_id) VALUES (?, 1)', account);
  return (await tx.get<{ id: number }>('SELECT id FROM credential WHERE account_id = ?', account))?.id ?? 0;
});
export const edited = command('test-edited', (tx, input: Parameters<typeof markEditedEmail>[1]) =>
  markEditedEmail(tx, input),
);
export const since = query('test-since', (rx, { agent, now }: { agent: Agent; now: number }) =>
  taintedSince(rx, { tenant: 1, ...identityOf(agent) }, now),
);
export const newest = query('test-newest', async (rx, account: number): Promise<number> => {
  return (await rx.get<{ id: number }>('SELECT max(id) AS id FROM email WHERE account_id = ?', account))?.id ?? 0;
});
export const uidIn = query(
  'test-uid',
  async (rx, input: { mailbox: number; email: number }): Promise<number | undefined> => {
    const { mailbox, email } = input;
    const sql = 'SELECT uid FROM entry WHERE mailbox_id = ? AND email_id = ? LIMIT 1';
    return (await rx.get<{ uid: number }>(sql, mailbox, email))?.uid;
  },
);
export const slots = query('test-slots', async (rx, account: number): Promise<number> => {
  return (await rx.get<{ n: number }>('SELECT count(*) AS n FROM keyword WHERE account_id = ?', account))?.n ?? 0;
});
export const folders = query('test-folders', async (rx, account: number): Promise<number[]> => {
  const rows = await rx.all<{ id: number }>('SELECT id FROM mailbox WHERE account_id = ? ORDER BY id LIMIT 2', account);
  return rows.map(({ id }) => id);
});

/**
 * The oracle: which content is tainted, and when each reader last used such content. Who has the password may have any
 * token, and the other way round.
 */
export class Oracle {
  readonly emails = new Map<number, boolean>();
  /** Messages that wait for their time, in the order in which they leave. */
  readonly scheduled: { at: number; tainted: boolean }[] = [];
  readonly words = new Set<string>();
  readonly #used = new Map<string, number>();

  isLeaked(agent: Agent, now: number): boolean {
    const readers = byPassword(agent) ? [...this.#used.keys()] : [readerOf(agent), 'mbx_1'];
    return readers.some((reader) => (this.#used.get(reader) ?? -Infinity) > now - WINDOW);
  }

  useWords(agent: Agent, kind: string, now: number): void {
    if (this.words.has(kind)) this.#used.set(readerOf(agent), now);
  }

  use(agent: Agent, email: number, now: number): void {
    if (this.emails.get(email) === true) this.#used.set(readerOf(agent), now);
  }
}
