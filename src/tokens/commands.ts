import { dropClaims } from '../../mail/store/claim-commands.ts';
import { attachPolicy, inheritPolicy } from '../../mail/store/agent-policy.ts';
import type { AgentMode, NarrowLimits } from '../../mail/delivery/agent/types.ts';
import { command, query, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { publicId, rowId } from '../ids.ts';
import { memberMailboxes } from '../people/member-commands.ts';

export interface NewToken {
  hash: Uint8Array;
  organization: number;
  name: string;
  shown: string;
  actions: readonly string[];
  project: number | null;
  service: number | null;
  mailboxes: readonly number[] | null;
  owner: boolean;
  createdBy: string;
  expiresAt: number | null;
  /** Of one that another one narrowed. */
  narrow?: { parent: number; limits: NarrowLimits };
  /** Agent policy that it is under; left out: that of who makes it, if any. */
  policy?: number | undefined;
}

/** A token works as the one that makes it does, and without a policy of its own is under that of it. */
export async function insertToken(tx: Write, token: NewToken, stamp: Stamp): Promise<number> {
  const { id } = await tx.run(
    `INSERT INTO token (token_hash, organization_id, name, shown, actions, project_id, service_id, mailboxes, owner,
       created_by, created_at, expires_at, parent_id, narrow, mode)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce((SELECT mode FROM token WHERE id = ?), 'normal'))`,
    token.hash,
    token.organization,
    token.name,
    token.shown,
    token.actions.join(' '),
    token.project,
    token.service,
    token.mailboxes === null ? null : JSON.stringify(token.mailboxes),
    Number(token.owner),
    token.createdBy,
    stamp.now,
    token.expiresAt,
    token.narrow?.parent ?? null,
    token.narrow === undefined ? null : JSON.stringify(token.narrow.limits),
    rowId('token', token.createdBy) ?? null,
  );
  const credential = publicId('token', id);
  if (token.policy === undefined) await inheritPolicy(tx, token.organization, token.createdBy, credential);
  else await attachPolicy(tx, { credential }, token.policy);
  return id;
}

export const addToken = command('add-token', insertToken);

/** Ends a token at once, with those that are narrowed from it; what they had accepted goes on. */
export const revokeToken = command(
  'revoke-token',
  async (tx, input: { id: number; organization: number }, stamp): Promise<{ kind: 'revoked' | 'missing' }> => {
    const known = await tx.get(
      'SELECT 1 AS there FROM token WHERE id = ? AND organization_id = ?',
      input.id,
      input.organization,
    );
    if (known === undefined) return { kind: 'missing' };
    await endTokens(tx, input.id, stamp);
    return { kind: 'revoked' };
  },
);

/** The same inside of other commands, of a token that is there. */
export async function endTokens(tx: Write, id: number, stamp: Stamp): Promise<void> {
  const ended = await tx.all<{ id: number }>(
    `WITH RECURSIVE below (id) AS (SELECT ?2 UNION SELECT t.id FROM token t JOIN below b ON t.parent_id = b.id)
     UPDATE token SET revoked_at = ?1 WHERE id IN (SELECT id FROM below) AND revoked_at IS NULL
       AND (id = ?2 OR expires_at > ?1) RETURNING id`,
    stamp.now,
    id,
  );
  for (const one of ended) {
    await dropClaims(tx, publicId('token', one.id), stamp);
    await attachPolicy(tx, { credential: publicId('token', one.id) }, null);
  }
}

/** Notes when tokens and email API keys were last used; written in bulk every half minute. */
export const stampSecrets = command(
  'stamp-secrets',
  async (
    tx,
    input: { tokens: readonly (readonly [number, number])[]; keys: readonly (readonly [number, number])[] },
  ): Promise<void> => {
    for (const [id, at] of input.tokens) await tx.run('UPDATE token SET last_used_at = ? WHERE id = ?', at, id);
    for (const [id, at] of input.keys) await tx.run('UPDATE api_key SET last_used_at = ? WHERE id = ?', at, id);
  },
);

export interface TokenRow {
  id: number;
  organization: number;
  name: string;
  shown: string;
  actions: string[];
  project: number | null;
  service: number | null;
  mailboxes: number[] | null;
  owner: boolean;
  /** How it may work; frozen as well while all agents of its organization are stopped. */
  mode: AgentMode;
  createdBy: string;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
  /** The token that it is narrowed from. */
  parent: number | null;
  narrow: NarrowLimits | null;
  /** A program that a person let in by OAuth: by what the client names itself, and who. */
  oauth: { client: string; user: number } | null;
}

type Columns = {
  id: number;
  organization_id: number;
  name: string;
  shown: string;
  actions: string;
  project_id: number | null;
  service_id: number | null;
  mailboxes: string | null;
  owner: number;
  mode: AgentMode;
  created_by: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
  parent_id: number | null;
  narrow: string | null;
  client_id: string | null;
  user_id: number | null;
};

/**
 * A token that holds, of an organization that is not frozen; found by its hash, by that of an OAuth access token or, for
 * a session, by its row. What a person let in may at any time only what that person may.
 */
export const findToken = query(
  'find-token',
  async (rx, input: { hash: Uint8Array } | { access: Uint8Array } | { id: number }): Promise<TokenRow | undefined> => {
    const row = await findRow(rx, input);
    if (row === undefined || row.frozen_at !== null || row.revoked_at !== null) return undefined;
    // All agents of the organization were stopped at once.
    const token = row.agents_stopped_at === null ? tokenOf(row) : { ...tokenOf(row), mode: 'frozen' as const };
    const own = await withinPerson(rx, { ...token, expiresAt: row.access_expires_at ?? token.expiresAt });
    return own && withinParent(rx, own);
  },
);

type Found = Columns & { frozen_at: number | null; agents_stopped_at: number | null; access_expires_at?: number };

function findRow(
  rx: Read,
  input: { hash: Uint8Array } | { access: Uint8Array } | { id: number },
): Promise<Found | undefined> {
  if ('id' in input) {
    return rx.get(
      'SELECT t.*, o.frozen_at, o.agents_stopped_at FROM token t JOIN organization o ON o.id = t.organization_id WHERE t.id = ?',
      input.id,
    );
  }
  if ('hash' in input) {
    return rx.get(
      'SELECT t.*, o.frozen_at, o.agents_stopped_at FROM token t JOIN organization o ON o.id = t.organization_id WHERE t.token_hash = ?',
      input.hash,
    );
  }
  return rx.get(
    `SELECT t.*, o.frozen_at, o.agents_stopped_at, s.expires_at AS access_expires_at FROM oauth_secret s
     JOIN token t ON t.id = s.token_id JOIN organization o ON o.id = t.organization_id
     WHERE s.secret_hash = ? AND s.kind = 'access'`,
    input.access,
  );
}

/** What a token limited to mailboxes can have of a member. */
const MEMBER_ACTIONS = ['read', 'manage', 'send', 'mail_read'];

/** Who lost a membership, a role or a mailbox took it from their programs in the same moment. */
async function withinPerson(rx: Read, token: TokenRow): Promise<TokenRow | undefined> {
  if (token.oauth === null) return token;
  const { organization } = token;
  const { user } = token.oauth;
  const member = await rx.get<{ role: string }>(
    'SELECT role FROM member WHERE organization_id = ? AND user_id = ?',
    organization,
    user,
  );
  if (member === undefined) return undefined;
  if (member.role !== 'member') return token;
  const own = await memberMailboxes.run(rx, { organization, user });
  return {
    ...token,
    actions: token.actions.filter((one) => MEMBER_ACTIONS.includes(one)),
    mailboxes: token.mailboxes?.filter((one) => own.includes(one)) ?? own,
  };
}

/** A narrowed token opens at any time only what the one opens that it is from, and nothing when that has ended. */
async function withinParent(rx: Read, token: TokenRow): Promise<TokenRow | undefined> {
  if (token.parent === null) return token;
  const parent = await findToken.run(rx, { id: token.parent });
  if (parent === undefined) return undefined;
  return { ...token, mailboxes: token.mailboxes?.filter((one) => parent.mailboxes?.includes(one) ?? true) ?? null };
}

/** Every token of an organization, also those that were revoked. */
export const listTokens = query('list-tokens', async (rx, input: { organization: number }): Promise<TokenRow[]> => {
  const rows = await rx.all<Columns>('SELECT * FROM token WHERE organization_id = ? ORDER BY id', input.organization);
  return rows.map(tokenOf);
});

function tokenOf(row: Columns): TokenRow {
  return {
    id: row.id,
    organization: row.organization_id,
    name: row.name,
    shown: row.shown,
    actions: row.actions.split(' '),
    project: row.project_id,
    service: row.service_id,
    mailboxes: row.mailboxes === null ? null : (JSON.parse(row.mailboxes) as number[]),
    owner: row.owner === 1,
    mode: row.mode,
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    parent: row.parent_id,
    narrow: row.narrow === null ? null : (JSON.parse(row.narrow) as NarrowLimits),
    oauth: row.client_id === null ? null : { client: row.client_id, user: row.user_id ?? 0 },
  };
}
