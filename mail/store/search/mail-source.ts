import type { Reader } from '../engine/reader.ts';
import type { DatabaseConnection } from '../engine/connection.ts';
import type { Query, Read } from '../engine/types.ts';
import { ACCOUNT_SPAN } from './account-span.ts';

/** The mail that the full-text index follows, beside the index's own file. Synchronous. */
export interface MailSource {
  /** Statements on the tables of the mail. */
  readonly mail: Pick<DatabaseConnection, 'get' | 'all'>;
  /** Reports whether the mail is older than the index: it was put back to an earlier time. */
  isBehind(): boolean;
  /** The next account with mail behind its progress. */
  behindAfter(account: number): number | undefined;
  /** Number of emails of all accounts behind their progress. */
  backlog(): number;
  /** Emails of the index between two ids that are no longer stored. */
  purged(after: number, upto: number, limit: number): number[];
  /** Removes the progress of accounts that are no longer stored. */
  removeOldProgress(): void;
  /** Runs a query that may use `message_text` and the mail in one snapshot. */
  query<O>(what: Query<undefined, O>): Promise<O>;
  close(): void;
}

/** The mail in the SQLite database that is attached to the index. */
export function attachedMail(connection: DatabaseConnection, reader: Reader): MailSource {
  return {
    mail: connection,
    isBehind: () =>
      connection.get(
        `SELECT p.account FROM progress p JOIN account a ON a.id = p.account LEFT JOIN email e ON e.id = p.upto
         WHERE p.upto % 4294967296 > a.email_seq OR e.received_at <> p.mark LIMIT 1`,
        [],
      ) !== undefined,
    behindAfter: (account) =>
      connection.get<{ id: number }>(
        `SELECT a.id FROM account a LEFT JOIN progress p ON p.account = a.id
         WHERE a.id > ? AND a.state <> 2 AND a.id * 4294967296 + a.email_seq > coalesce(p.upto, a.id * 4294967296)
         ORDER BY a.id LIMIT 1`,
        [account],
      )?.id,
    backlog() {
      const row = connection.get<{ left: number | null }>(
        `SELECT sum(max(0, a.id * 4294967296 + a.email_seq - coalesce(p.upto, a.id * 4294967296))) AS left
         FROM account a LEFT JOIN progress p ON p.account = a.id WHERE a.state <> 2`,
        [],
      );
      return row?.left ?? 0;
    },
    purged: (after, upto, limit) =>
      connection
        .all<{ id: number }>(
          `SELECT id FROM message_text_docsize d WHERE id > ? AND id <= ?
             AND NOT EXISTS (SELECT 1 FROM email WHERE email.id = d.id) ORDER BY id LIMIT ?`,
          [after, upto, limit],
        )
        .map(({ id }) => id),
    removeOldProgress() {
      connection.run(
        'DELETE FROM progress WHERE NOT EXISTS (SELECT 1 FROM account a WHERE a.id = progress.account)',
        [],
      );
    },
    query: (what) => reader.query(what, undefined),
    close: () => undefined,
  };
}

/** The mail of another database, which answers while the thread waits. */
export interface WaitingDatabase extends Pick<DatabaseConnection, 'get' | 'all' | 'run'> {
  close(): void;
}

interface Progress extends Record<string, number> {
  account: number;
  upto: number;
  mark: number;
}

/** Accounts of one statement. */
const ACCOUNTS = 1_000;

/** The mail in a database of its own, beside the index's connection. */
export function separateMail(index: DatabaseConnection, mail: WaitingDatabase): MailSource {
  const uptoOf = (account: number): number =>
    index.get<{ upto: number }>('SELECT upto FROM progress WHERE account = ?', [account])?.upto ??
    account * ACCOUNT_SPAN;
  /** Accounts behind `after` with the number of their emails that are not indexed. */
  function* behind(after: number): Generator<{ id: number; left: number }> {
    for (let from = after; ;) {
      const rows = mail.all<{ id: number; email_seq: number }>(
        'SELECT id, email_seq FROM account WHERE id > ? AND state <> 2 ORDER BY id LIMIT ?',
        [from, ACCOUNTS],
      );
      for (const { id, email_seq: last } of rows) {
        const left = id * ACCOUNT_SPAN + last - uptoOf(id);
        if (left > 0) yield { id, left };
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < ACCOUNTS) return;
      from = last.id;
    }
  }
  const without = (ids: readonly number[], sql: string): number[] => {
    const there = new Set(mail.all<{ id: number }>(sql, [JSON.stringify(ids)]).map(({ id }) => id));
    return ids.filter((id) => !there.has(id));
  };
  return {
    mail,
    isBehind: () =>
      index.all<Progress>('SELECT account, upto, mark FROM progress', []).some(
        ({ account, upto, mark }) =>
          mail.get(
            `SELECT a.id FROM account a LEFT JOIN email e ON e.id = ?
             WHERE a.id = ? AND (? > a.email_seq OR e.received_at <> ?)`,
            [upto, account, upto % ACCOUNT_SPAN, mark],
          ) !== undefined,
      ),
    behindAfter: (account) => behind(account).next().value?.id,
    backlog: () => [...behind(0)].reduce((sum, { left }) => sum + left, 0),
    purged(after, upto, limit) {
      const ids = index
        .all<{ id: number }>('SELECT id FROM message_text_docsize WHERE id > ? AND id <= ? ORDER BY id', [after, upto])
        .map(({ id }) => id);
      const kept = 'SELECT e.id FROM json_each(?) j JOIN email e ON e.id = j.value';
      return without(ids, kept).slice(0, limit);
    },
    removeOldProgress() {
      const ids = index.all<{ account: number }>('SELECT account FROM progress', []).map(({ account }) => account);
      const kept = 'SELECT a.id FROM json_each(?) j JOIN account a ON a.id = j.value';
      for (const id of without(ids, kept)) index.run('DELETE FROM progress WHERE account = ?', [id]);
    },
    async query(what) {
      mail.run('BEGIN ISOLATION LEVEL REPEATABLE READ', []);
      try {
        return await what.run(readOfBoth(index, mail), undefined);
      } finally {
        mail.run('COMMIT', []);
      }
    },
    close: () => mail.close(),
  };
}

/** A statement on words runs on the index, any other on the mail. */
function readOfBoth(index: DatabaseConnection, mail: WaitingDatabase): Read {
  const ownerOf = (sql: string): Pick<DatabaseConnection, 'get' | 'all'> =>
    sql.includes('message_text') ? index : mail;
  return {
    get: async (sql, ...params) => ownerOf(sql).get(sql, params),
    all: async (sql, ...params) => ownerOf(sql).all(sql, params),
  };
}
