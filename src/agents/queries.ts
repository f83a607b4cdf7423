import { publicId } from '../core/ids.ts';
import type { AgentMode, NarrowLimits } from '../../mail/agents/gate/types.ts';
import { OPERATOR } from '../../mail/store/account/account.ts';
import { agentUse } from '../../mail/agents/gate/send-log.ts';
import { lookup, query, type Row } from '../../mail/store/engine/types.ts';
import { taintedSince, type Sending } from '../../mail/agents/taint/taint.ts';
import { PERSON } from '../../mail/store/actor.ts';

/** Token facts for the gate. */
export interface AgentToken {
  organization: number;
  /** As set by its owner; `frozen` while all agents of the organization are stopped. */
  mode: AgentMode;
  /** Row of the root token from which it derives. */
  root: number;
  /** Public ids of its parent tokens. */
  from: readonly string[];
  /** A person could approve held mail. */
  attended: boolean;
}

interface TokenRow extends Row {
  organization_id: number;
  mode: AgentMode;
  root: number;
  narrow: string | null;
  claimed_at: number | null;
  agents_stopped_at: number | null;
}

export const agentToken = lookup('agent-token', async (rx, input: { id: number }): Promise<AgentToken | undefined> => {
  const row = await rx.get<TokenRow>(
    `WITH RECURSIVE line (id, maker) AS (
       SELECT id, created_by FROM token WHERE id = ?1
       UNION SELECT t.id, t.created_by FROM line l JOIN token t ON l.maker = 'tok_' || t.id)
     SELECT t.organization_id, t.mode, t.narrow, (SELECT min(id) FROM line) AS root, o.claimed_at, o.agents_stopped_at
     FROM token t JOIN organization o ON o.id = t.organization_id WHERE t.id = ?1`,
    input.id,
  );
  if (row === undefined) return undefined;
  const { organization_id: organization, root, narrow } = row;
  const from = narrow === null ? [] : (JSON.parse(narrow) as NarrowLimits).from;
  return { organization, root, from, mode: modeOf(row), attended: isAttended(organization, row.claimed_at) };
});

function modeOf({ mode, agents_stopped_at: stopped }: Pick<TokenRow, 'mode' | 'agents_stopped_at'>): AgentMode {
  return stopped === null ? mode : 'frozen';
}

/** Tests if the organization has a person: it is claimed, or the operator's. */
export function isAttended(organization: number, claimedAt: number | null): boolean {
  return organization === OPERATOR || claimedAt !== null;
}

/** Facts about a mailbox's password for the gate. */
export interface AgentLogin {
  tenant: number;
  /** Marked as a person's: never an agent's, whatever policy its mailbox has. */
  person: boolean;
  mode: AgentMode;
  /** Frozen by a canary, and not because all agents are stopped. */
  tripped: boolean;
  attended: boolean;
}

interface LoginRow extends Row {
  tenant: number;
  scopes: string;
  claimed_at: number | null;
  agents_stopped_at: number | null;
  tripped: number;
}

export const agentLogin = lookup(
  'agent-login',
  async (rx, input: { account: number; credential: number }): Promise<AgentLogin | undefined> => {
    const row = await rx.get<LoginRow>(
      `SELECT a.tenant, c.scopes, o.claimed_at, o.agents_stopped_at, EXISTS (SELECT 1 FROM canary_trip t
         WHERE t.credential = 'mbx_' || a.id AND t.reviewed_at IS NULL) AS tripped FROM credential c JOIN account a ON a.id = c.account_id
       JOIN organization o ON o.id = a.tenant WHERE c.id = ? AND c.account_id = ?`,
      input.credential,
      input.account,
    );
    if (row === undefined) return undefined;
    const { tenant, scopes } = row;
    const { agents_stopped_at } = row;
    const mode = modeOf({ mode: row.tripped === 1 ? 'frozen' : 'normal', agents_stopped_at });
    const person = scopes.split(' ').includes(PERSON);
    const tripped = row.tripped === 1 && agents_stopped_at === null;
    return { tenant, mode, person, tripped, attended: isAttended(tenant, row.claimed_at) };
  },
);

/** Passwords that agents may have: of mailboxes under a policy, without those marked as a person's. */
export const agentPasswords = lookup(
  'agent-passwords',
  async (rx, input: { organization: number }): Promise<{ account: number; credential: number }[]> => {
    const rows = await rx.all<{ account: number; credential: number; scopes: string }>(
      `SELECT c.account_id AS account, c.id AS credential, c.scopes FROM account a
         CROSS JOIN agent_policy_account p ON p.account_id = a.id CROSS JOIN credential c ON c.account_id = a.id
       WHERE a.tenant = ?`,
      input.organization,
    );
    return rows.filter(({ scopes }) => !scopes.split(' ').includes(PERSON)).map(({ scopes: _, ...one }) => one);
  },
);

/** Verified addresses of owners and members of an organization, as compared. */
export const internalAddresses = lookup(
  'internal-addresses',
  async (rx, input: { organization: number }): Promise<string[]> => {
    const rows = await rx.all<{ email_key: string }>(
      `SELECT u.email_key FROM member m JOIN user u ON u.id = m.user_id
     WHERE m.organization_id = ? AND u.address_verified_at IS NOT NULL`,
      input.organization,
    );
    return rows.map((row) => row.email_key);
  },
);

/** Tests if an agent has read mail from outsiders lately. */
export const isTainted = query(
  'is-tainted',
  async (rx, { now, ...sending }: Sending & { now: number }): Promise<boolean> =>
    (await taintedSince(rx, sending, now)) !== undefined,
);

/** Status of a token for itself. */
export interface AgentStatus {
  mode: AgentMode;
  attended: boolean;
  /** It, or another token of the same root, has read mail from outsiders lately. */
  tainted: boolean;
  /** Messages in 24 hours, by all tokens of the same root. */
  sentToday: number;
}

const DAY_MS = 24 * 3_600_000;

export const agentStatus = query(
  'agent-standing',
  async (rx, { id, now }: { id: number; now: number }): Promise<AgentStatus | undefined> => {
    const token = await agentToken.run(rx, { id });
    if (token === undefined) return undefined;
    const { organization: tenant, root, mode, attended } = token;
    const reader = publicId('token', root);
    const since = await taintedSince(rx, { tenant, reader, byPassword: false }, now);
    const { messages } = await agentUse(rx, reader, now - DAY_MS);
    return { mode, attended, tainted: since !== undefined, sentToday: messages };
  },
);
