import { jmapId } from '../../mail/store/object-id.ts';
import { isHuman } from '../../mail/store/actor.ts';
import { lookup, query, type Read } from '../../mail/store/engine/types.ts';
import { kwList } from '../../mail/store/mailbox/flags.ts';
import { claimOf } from '../../mail/agents/claims/claim.ts';
import { IN_THREAD_1 } from '../../mail/store/message/in-thread.ts';

/** Messages of a thread and changes of them that are read. */
const MAX_MESSAGES = 500;
const MAX_CHANGES = 100;

/** A change that an agent made to a message. Ids are those of JMAP. */
export interface AgentChange {
  emailId: string;
  agent: string;
  /** ms UTC. */
  at: number;
  /** Folders that it was taken from and put into. */
  from: string[];
  to: string[];
  /** Keywords that were added and removed. */
  added: string[];
  removed: string[];
}

/** Traces of agents in a thread. Agents are public ids of tokens, mailboxes or app passwords. */
export interface ThreadAgents {
  /** Rows of emails that agents created. */
  written: { email: number; agent: string }[];
  /** Rows of the approvals of its messages, newest last. */
  approvals: { id: number; email: number }[];
  /** Newest first. */
  changes: AgentChange[];
  claim: { agent: string; until: number } | undefined;
}

/** Reads what agents did in a thread of an account. Cost: linear in its messages. */
export const threadAgents = query(
  'thread-agents',
  async (rx, { account, thread, now }: { account: number; thread: number; now: number }): Promise<ThreadAgents> => {
    const emails = await rx.all<{ email: number; agent: string | null }>(
      `SELECT e.id AS email, e.created_by AS agent FROM email e
       WHERE ${IN_THREAD_1} AND +e.account_id = ?2 ORDER BY e.received_at DESC LIMIT ?3`,
      thread,
      account,
      MAX_MESSAGES,
    );
    const ids = JSON.stringify(emails.map(({ email }) => email));
    const claim = await claimOf(rx, account, thread);
    return {
      written: emails.flatMap(({ email, agent }) => (agent === null ? [] : [{ email, agent }])),
      approvals: await rx.all<{ id: number; email: number }>(
        `SELECT id, email_id AS email FROM approval INDEXED BY approval_email
         WHERE email_id IN (SELECT value FROM json_each(?)) AND account_id = ? ORDER BY id`,
        ids,
        account,
      ),
      changes: await changesOf(rx, account, ids),
      claim: claim === undefined || claim.until <= now ? undefined : { agent: claim.holder, until: claim.until },
    };
  },
);

type ChangeRow = {
  email: number;
  agent: string;
  at: number;
  bitsBefore: number | null;
  bitsAfter: number | null;
  kwBefore: string | null;
  kwAfter: string | null;
  foldersBefore: string | null;
  foldersAfter: string | null;
};

async function changesOf(rx: Read, account: number, emails: string): Promise<AgentChange[]> {
  const rows = await rx.all<ChangeRow>(
    `SELECT email_id AS email, actor AS agent, at, flags_before AS "bitsBefore", flags_after AS "bitsAfter",
       kw_before AS "kwBefore", kw_after AS "kwAfter", mailboxes_before AS "foldersBefore",
       mailboxes_after AS "foldersAfter" FROM agent_change INDEXED BY agent_change_email
     WHERE account_id = ? AND email_id IN (SELECT value FROM json_each(?)) ORDER BY seq DESC LIMIT ?`,
    account,
    emails,
    MAX_CHANGES,
  );
  if (rows.length === 0) return [];
  const slots = await rx.all<{ slot: number; name: string }>(
    'SELECT slot, name FROM keyword WHERE account_id = ?',
    account,
  );
  return rows.map((row) => changeOf(row, new Map(slots.map(({ slot, name }) => [slot, name.toLowerCase()]))));
}

function changeOf(row: ChangeRow, slots: ReadonlyMap<number, string>): AgentChange {
  const [from, to] = [foldersOf(row.foldersBefore), foldersOf(row.foldersAfter)];
  const before = keywordsOf(row.bitsBefore, row.kwBefore, slots);
  const after = keywordsOf(row.bitsAfter, row.kwAfter, slots);
  return {
    emailId: jmapId('email', row.email),
    agent: row.agent,
    at: row.at,
    from: from.filter((one) => !to.includes(one)),
    to: to.filter((one) => !from.includes(one)),
    added: after.filter((one) => !before.includes(one)),
    removed: before.filter((one) => !after.includes(one)),
  };
}

const foldersOf = (json: string | null): string[] =>
  json === null ? [] : (JSON.parse(json) as number[]).map((id) => jmapId('mailbox', id));

/** Names of bits 0 to 3. RFC 8621 4.1.1. */
const SYSTEM = ['$seen', '$answered', '$flagged', '$draft'];

function keywordsOf(bits: number | null, kw: string | null, slots: ReadonlyMap<number, string>): string[] {
  const names = [...SYSTEM.entries(), ...slots].filter(([slot]) => ((bits ?? 0) & (1 << slot)) !== 0);
  return [...names.map(([, name]) => name), ...kwList(kw)];
}

/** True if a password of a mailbox identifies a person, who may decide about mail of agents. */
export const isHumanLogin = query(
  'is-human-login',
  (rx, { account, credential }: { account: number; credential: number }): Promise<boolean> =>
    isHuman(rx, account, { credential }),
);

/** Name of an app password of an account. */
export const passwordName = lookup(
  'password-name',
  async (rx, { account, id }: { account: number; id: number }): Promise<string | undefined> => {
    const sql = 'SELECT name FROM credential WHERE id = ? AND account_id = ?';
    return (await rx.get<{ name: string }>(sql, id, account))?.name;
  },
);
