import type { AgentMode } from '../../mail/agents/gate/types.ts';
import type { Read, Row } from '../../mail/store/engine/types.ts';
import { publicId, rowId } from '../core/ids.ts';

/** Newest rows of the audit log, and of changes, that are counted for one digest. */
export const MAX_AUDIT_ROWS = 5000;
/** Newest tokens that are listed; older ones appear if they were active. */
const MAX_TOKENS = 500;

/** ms UTC; the end is exclusive. */
export interface Span {
  since: number;
  until: number;
}

/** Activity of one agent. */
export interface AgentDay {
  /** Public id of a token, an app password, or the mailbox whose own password it used. */
  credential: string;
  /** Name of the token, or address that the password opens; '' if deleted. */
  name: string;
  /** Null: a password, or a revoked token. */
  mode: AgentMode | null;
  sent: number;
  held: number;
  /** Messages from outsiders. */
  read: number;
  /** Operations that it called, with their outcome, from the audit log. */
  acts: { operation: string; outcome: string; times: number }[];
  /** Changes of rules and forwards that can be undone. */
  rules: number;
  /** Its pending proposals. */
  proposals: number;
}

interface DigestInput extends Span {
  organization: number;
  now: number;
  /** Ids of other active agents. */
  others: readonly string[];
}

/** Tokens of an organization and passwords that agents used, with their activity. */
export async function agentDaysOf(rx: Read, input: DigestInput): Promise<AgentDay[]> {
  const { organization } = input;
  const tokens = await tokensOf(rx, input);
  const sends = await sendsOf(rx, input);
  const acts = await actsOf(rx, input);
  const [reads, rules, proposals] = [await readsOf(rx, input), await rulesOf(rx, input), await proposalsOf(rx, input)];
  const active = [sends, acts, reads, rules, proposals].flatMap((found) => [...found.keys()]);
  const all = [...new Set([...tokens.keys(), ...active, ...input.others])];
  all.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return Promise.all(
    all.map(async (credential) => ({
      credential,
      ...(await nameOf(rx, organization, credential, tokens.get(credential))),
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

async function tokensOf(rx: Read, { organization }: DigestInput): Promise<Map<string, Token>> {
  const rows = await rx.all<Token>(
    'SELECT id, name, mode, revoked_at FROM token WHERE organization_id = ? ORDER BY id DESC LIMIT ?',
    organization,
    MAX_TOKENS,
  );
  return new Map(rows.map((one) => [publicId('token', one.id), one]));
}

async function nameOf(
  rx: Read,
  organization: number,
  credential: string,
  known: Token | undefined,
): Promise<Pick<AgentDay, 'name' | 'mode'>> {
  const token = known ?? (await tokenOf(rx, organization, credential));
  if (token !== undefined) return { name: token.name, mode: token.revoked_at === null ? token.mode : null };
  const row = await rx.get<{ address: string }>(
    `SELECT address FROM account WHERE tenant = ?1 AND state < 2
       AND id = coalesce(?2, (SELECT account_id FROM credential WHERE id = ?3))`,
    organization,
    rowId('mailbox', credential) ?? null,
    rowId('credential', credential) ?? null,
  );
  return { name: row?.address ?? '', mode: null };
}

/** Reads a token that is not among the newest. */
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
  { organization, since, until }: DigestInput,
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

/** Tests if the audit log has more rows since a time than are counted: flooding it could hide earlier activity. */
export async function isAuditCut(rx: Read, organization: number, since: number): Promise<boolean> {
  const row = await rx.get<{ at: number }>(
    'SELECT at FROM audit WHERE organization_id = ? ORDER BY id DESC LIMIT 1 OFFSET ?',
    organization,
    MAX_AUDIT_ROWS,
  );
  return row !== undefined && row.at >= since;
}

/** Leaves out what the box itself did: an agent may read its owner's mail, and must not learn of canaries there. */
async function actsOf(rx: Read, { organization, since, until }: DigestInput): Promise<Map<string, AgentDay['acts']>> {
  const rows = await rx.all<{ credential: string; operation: string; outcome: string; times: number }>(
    `SELECT actor AS credential, operation, outcome, count(*) AS times
     FROM (SELECT actor, endpoint AS way, operation, outcome, at FROM audit WHERE organization_id = ?1 ORDER BY id DESC LIMIT ?2)
     WHERE actor LIKE 'tok\\_%' ESCAPE '\\' AND way <> 'box' AND at >= ?3 AND at < ?4 GROUP BY 1, 2, 3 ORDER BY times DESC, operation`,
    organization,
    MAX_AUDIT_ROWS,
    since,
    until,
  );
  const acts = new Map<string, AgentDay['acts']>();
  for (const { credential, ...act } of rows) acts.set(credential, [...(acts.get(credential) ?? []), act]);
  return acts;
}

async function readsOf(rx: Read, { organization, since, until }: DigestInput): Promise<Map<string, number>> {
  const rows = await rx.all<CredentialCount>(
    `SELECT e.credential, count(*) AS n FROM tainted_reader x
       CROSS JOIN untrusted_read e ON e.reader = x.reader AND e.at >= ?2 AND e.at < ?3
     WHERE x.tenant = ?1 GROUP BY e.credential`,
    organization,
    since,
    until,
  );
  return countsByCredential(rows);
}

async function rulesOf(rx: Read, { organization, since, until }: DigestInput): Promise<Map<string, number>> {
  const rows = await rx.all<CredentialCount>(
    `SELECT actor AS credential, count(*) AS n
     FROM (SELECT actor, at FROM agent_rule_change WHERE tenant = ?1 ORDER BY id DESC LIMIT ?2)
     WHERE at >= ?3 AND at < ?4 GROUP BY actor`,
    organization,
    MAX_AUDIT_ROWS,
    since,
    until,
  );
  return countsByCredential(rows);
}

async function proposalsOf(rx: Read, { organization, now }: DigestInput): Promise<Map<string, number>> {
  const rows = await rx.all<CredentialCount>(
    `SELECT 'tok_' || token_id AS credential, count(*) AS n FROM proposal
     WHERE organization_id = ? AND state = 'pending' AND expires_at > ? GROUP BY token_id`,
    organization,
    now,
  );
  return countsByCredential(rows);
}

type CredentialCount = { credential: string; n: number };

function countsByCredential(rows: readonly CredentialCount[]): Map<string, number> {
  return new Map(rows.map(({ credential, n }) => [credential, n]));
}
