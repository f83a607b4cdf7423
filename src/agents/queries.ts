import type { AgentMode, NarrowLimits } from '../../mail/delivery/agent/types.ts';
import { OPERATOR } from '../../mail/store/account.ts';
import { agentUse } from '../../mail/store/agent-send.ts';
import { query, type Row } from '../../mail/store/engine/types.ts';
import { exposedSince, type Sending } from '../../mail/store/exposure.ts';
import { PERSON } from '../../mail/store/hand.ts';
import { publicId } from '../ids.ts';

/** A token as the gate needs to know it. */
export interface AgentToken {
  organization: number;
  /** As people set it; frozen while all agents of the organization are stopped. */
  mode: AgentMode;
  /** Row of the token from which it comes by minting: its own where a person made it. */
  root: number;
  /** Public ids of the tokens that it was narrowed from. */
  from: readonly string[];
  /** A person could let go what is held. */
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

export const agentToken = query('agent-token', async (rx, input: { id: number }): Promise<AgentToken | undefined> => {
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

/** Somebody has set a password for the organization, or may open the socket in the data directory. */
export function isAttended(organization: number, claimedAt: number | null): boolean {
  return organization === OPERATOR || claimedAt !== null;
}

/** A password of a mailbox as the gate needs to know it. */
export interface AgentLogin {
  tenant: number;
  /** A person's own: never an agent's, whatever policy its mailbox is under. */
  person: boolean;
  mode: AgentMode;
  /** It alone is frozen, and not all agents are stopped. */
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

export const agentLogin = query(
  'agent-login',
  async (rx, input: { account: number; credential: number }): Promise<AgentLogin | undefined> => {
    const row = await rx.get<LoginRow>(
      `SELECT a.tenant, c.scopes, o.claimed_at, o.agents_stopped_at, EXISTS (SELECT 1 FROM canary_trip t
         WHERE t.credential = 'mbx_' || a.id AND t.settled_at IS NULL) AS tripped FROM credential c JOIN account a ON a.id = c.account_id
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

/** Passwords that agents may have: of mailboxes of an organization that are under a policy, but for those made for a person. */
export const agentPasswords = query(
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

/** Owners and members of an organization who have shown that their address is theirs, as addresses are compared. */
export const houseOf = query('house-of', async (rx, input: { organization: number }): Promise<string[]> => {
  const rows = await rx.all<{ email_key: string }>(
    `SELECT u.email_key FROM member m JOIN user u ON u.id = m.user_id
     WHERE m.organization_id = ? AND u.address_proven_at IS NOT NULL`,
    input.organization,
  );
  return rows.map((row) => row.email_key);
});

/** Whether an agent, by the name under which its reading is kept, has read mail of outsiders lately. */
export const isExposed = query(
  'is-exposed',
  async (rx, { now, ...sending }: Sending & { now: number }): Promise<boolean> =>
    (await exposedSince(rx, sending, now)) !== undefined,
);

/** What a token is told of itself. */
export interface AgentStanding {
  mode: AgentMode;
  attended: boolean;
  /** It, or one of its like, has read mail of outsiders lately. */
  exposed: boolean;
  /** Messages in 24 hours, with those of its like. */
  sentToday: number;
}

const DAY_MS = 24 * 3_600_000;

export const agentStanding = query(
  'agent-standing',
  async (rx, { id, now }: { id: number; now: number }): Promise<AgentStanding | undefined> => {
    const token = await agentToken.run(rx, { id });
    if (token === undefined) return undefined;
    const { organization: tenant, root, mode, attended } = token;
    const reader = publicId('token', root);
    const since = await exposedSince(rx, { tenant, reader, byPassword: false }, now);
    const { messages } = await agentUse(rx, reader, now - DAY_MS);
    return { mode, attended, exposed: since !== undefined, sentToday: messages };
  },
);
