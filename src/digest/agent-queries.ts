import type { AgentMode } from '../../mail/delivery/agent/types.ts';
import type { Read, Row } from '../../mail/store/engine/types.ts';
import { publicId, rowId } from '../ids.ts';

/** The newest rows of the audit log, and of changes, that are looked at for one letter. */
export const MOST_ROWS = 5000;
/** The newest tokens: others are told of when they did something that is counted by itself. */
const MOST_TOKENS = 500;

/** ms UTC; the end is not in it. */
export interface Span {
  since: number;
  until: number;
}

/** What one agent did. */
export interface AgentDay {
  /** Public id of a token, of an app password, or of the mailbox whose own password it used. */
  credential: string;
  /** Of the token, or the address that the password opens; '': it is gone. */
  name: string;
  /** Null: it works by a password, or its token is revoked. */
  mode: AgentMode | null;
  sent: number;
  held: number;
  /** Messages of outsiders. */
  read: number;
  /** What it asked for in the control plane, and what came of it, as the audit log has it. */
  acts: { operation: string; outcome: string; times: number }[];
  /** Rules and forwards that could be undone. */
  rules: number;
  /** Proposals of it that wait. */
  proposals: number;
}

interface Asked extends Span {
  organization: number;
  now: number;
  /** Who else did something, by their ids. */
  others: readonly string[];
}

/** The tokens of an organization, and passwords that agents used, with what each did, by their ids. */
export async function agentsOf(rx: Read, asked: Asked): Promise<AgentDay[]> {
  const { organization } = asked;
  const tokens = await tokensOf(rx, asked);
  const sends = await sendsOf(rx, asked);
  const acts = await actsOf(rx, asked);
  const [reads, rules, proposals] = [await readsOf(rx, asked), await rulesOf(rx, asked), await proposalsOf(rx, asked)];
  const seen = [sends, acts, reads, rules, proposals].flatMap((found) => [...found.keys()]);
  const all = [...new Set([...tokens.keys(), ...seen, ...asked.others])];
  all.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return Promise.all(
    all.map(async (credential) => ({
      credential,
      ...(await named(rx, organization, credential, tokens.get(credential))),
      ...(sends.get(credential) ?? { sent: 0, held: 0 }),
      read: reads.get(credential) ?? 0,
      acts: acts.get(credential) ?? [],
      rules: rules.get(credential) ?? 0,
      proposals: proposals.get(credential) ?? 0,
    })),
  );
}

interface Token extends Row {
  id: number;
  name: string;
  mode: AgentMode;
  revoked_at: number | null;
}

async function tokensOf(rx: Read, { organization }: Asked): Promise<Map<string, Token>> {
  const rows = await rx.all<Token>(
    'SELECT id, name, mode, revoked_at FROM token WHERE organization_id = ? ORDER BY id DESC LIMIT ?',
    organization,
    MOST_TOKENS,
  );
  return new Map(rows.map((one) => [publicId('token', one.id), one]));
}

async function named(
  rx: Read,
  organization: number,
  credential: string,
  known: Token | undefined,
): Promise<Pick<AgentDay, 'name' | 'mode'>> {
  const token = known ?? (await tokenOf(rx, organization, credential));
  if (token !== undefined) return { name: token.name, mode: token.revoked_at === null ? token.mode : null };
  const row = await rx.get<{ address: string }>(
    `SELECT address FROM account WHERE tenant = ?1 AND state <> 2
       AND id = coalesce(?2, (SELECT account_id FROM credential WHERE id = ?3))`,
    organization,
    rowId('mailbox', credential) ?? null,
    rowId('credential', credential) ?? null,
  );
  return { name: row?.address ?? '', mode: null };
}

/** One that is older than those which are read together. */
async function tokenOf(rx: Read, organization: number, credential: string): Promise<Token | undefined> {
  const id = rowId('token', credential);
  if (id === undefined) return undefined;
  return rx.get<Token>(
    'SELECT id, name, mode, revoked_at FROM token WHERE id = ? AND organization_id = ?',
    id,
    organization,
  );
}

async function sendsOf(
  rx: Read,
  { organization, since, until }: Asked,
): Promise<Map<string, Pick<AgentDay, 'sent' | 'held'>>> {
  const rows = await rx.all<{ credential: string; sent: number; held: number }>(
    `SELECT credential, count(*) AS sent, sum(outcome = 'held') AS held FROM agent_send
     WHERE tenant = ? AND at >= ? AND at < ? GROUP BY credential`,
    organization,
    since,
    until,
  );
  return new Map(rows.map(({ credential, sent, held }) => [credential, { sent, held }]));
}

/** Whether the audit log has more of a time than is looked at: somebody may fill it to hide what stands before. */
export async function isAuditCut(rx: Read, organization: number, since: number): Promise<boolean> {
  const row = await rx.get<{ at: number }>(
    'SELECT at FROM audit WHERE organization_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?',
    organization,
    MOST_ROWS,
  );
  return row !== undefined && row.at >= since;
}

/** Not what the box did about it: an agent may read the mail of its owner, and is not to learn of canaries there. */
async function actsOf(rx: Read, { organization, since, until }: Asked): Promise<Map<string, AgentDay['acts']>> {
  const rows = await rx.all<{ credential: string; operation: string; outcome: string; times: number }>(
    `SELECT actor AS credential, operation, outcome, count(*) AS times
     FROM (SELECT actor, way, operation, outcome, at FROM audit WHERE organization_id = ?1 ORDER BY id DESC LIMIT ?2)
     WHERE actor LIKE 'tok\\_%' ESCAPE '\\' AND way <> 'box' AND at >= ?3 AND at < ?4 GROUP BY 1, 2, 3 ORDER BY times DESC, operation`,
    organization,
    MOST_ROWS,
    since,
    until,
  );
  const acts = new Map<string, AgentDay['acts']>();
  for (const { credential, ...act } of rows) acts.set(credential, [...(acts.get(credential) ?? []), act]);
  return acts;
}

async function readsOf(rx: Read, { organization, since, until }: Asked): Promise<Map<string, number>> {
  const rows = await rx.all<Counted>(
    `SELECT e.credential, count(*) AS n FROM exposed x CROSS JOIN exposure e ON e.reader = x.reader
     WHERE x.tenant = ? AND e.at >= ? AND e.at < ? GROUP BY e.credential`,
    organization,
    since,
    until,
  );
  return counted(rows);
}

async function rulesOf(rx: Read, { organization, since, until }: Asked): Promise<Map<string, number>> {
  const rows = await rx.all<Counted>(
    `SELECT who AS credential, count(*) AS n
     FROM (SELECT who, at FROM agent_rule_change WHERE tenant = ?1 ORDER BY id DESC LIMIT ?2)
     WHERE at >= ?3 AND at < ?4 GROUP BY who`,
    organization,
    MOST_ROWS,
    since,
    until,
  );
  return counted(rows);
}

async function proposalsOf(rx: Read, { organization, now }: Asked): Promise<Map<string, number>> {
  const rows = await rx.all<Counted>(
    `SELECT 'tok_' || token_id AS credential, count(*) AS n FROM proposal
     WHERE organization_id = ? AND state = 'pending' AND expires_at > ? GROUP BY token_id`,
    organization,
    now,
  );
  return counted(rows);
}

type Counted = { credential: string; n: number };

function counted(rows: readonly Counted[]): Map<string, number> {
  return new Map(rows.map(({ credential, n }) => [credential, n]));
}
