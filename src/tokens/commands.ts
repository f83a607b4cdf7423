import { dropClaims } from '../../mail/agents/claims/commands.ts';
import { deriveReader } from '../../mail/agents/taint/content.ts';
import { attachPolicy, inheritPolicy } from '../../mail/agents/policy/policies.ts';
import type { AgentMode, NarrowLimits } from '../../mail/agents/gate/types.ts';
import { command, lookup, query, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { publicId, rowId } from '../core/ids.ts';
import { memberMailboxes } from '../people/member-commands.ts';
import type { TokenRow } from '../core/caller.ts';

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
  /** Parent and limits of a narrowed token. */
  narrow?: { parent: number; limits: NarrowLimits };
  /** Agent policy; by default the creator's, if any. */
  policy?: number | undefined;
}

/** Inserts a token. It inherits the mode of the token that creates it, and by default its policy. */
export async function insertToken(tx: Write, token: NewToken, stamp: Stamp): Promise<number> {
  const { id } = await tx.run(
    `INSERT INTO token (token_hash, organization_id, name, display_prefix, actions, project_id, service_id, mailboxes, owner,
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
  if (rowId('token', token.createdBy) !== undefined) await deriveReader(tx, credential, token.createdBy);
  if (token.policy === undefined) await inheritPolicy(tx, token.organization, token.createdBy, credential);
  else await attachPolicy(tx, { credential }, token.policy);
  return id;
}

export const addToken = command('add-token', insertToken);

/** Revokes a token and those narrowed from it; mail that they submitted is still sent. */
export const revokeToken = command(
  'revoke-token',
  async (tx, input: { id: number; organization: number }, stamp): Promise<{ kind: 'revoked' | 'missing' }> => {
    const known = await tx.get(
      'SELECT 1 AS there FROM token WHERE id = ? AND organization_id = ?',
      input.id,
      input.organization,
    );
    if (known === undefined) return { kind: 'missing' };
    await revokeTokens(tx, input.id, stamp);
    return { kind: 'revoked' };
  },
);

/** Revokes an existing token inside another command. */
export async function revokeTokens(tx: Write, id: number, stamp: Stamp): Promise<void> {
  const ended = await tx.all<{ id: number }>(
    `WITH RECURSIVE below (id) AS (SELECT CAST(?2 AS INTEGER) UNION SELECT t.id FROM token t JOIN below b ON t.parent_id = b.id)
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

/** Writes last-used times of tokens and email API keys; called every 30 seconds. */
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

type TokenColumns = {
  id: number;
  organization_id: number;
  name: string;
  display_prefix: string;
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
 * Finds a token that is not revoked, of an organization that is not frozen: by its hash, by an OAuth access token's hash
 * or by its row. An OAuth token never exceeds the present permissions of the person who authorized it.
 */
export const findToken = query(
  'find-token',
  async (rx, input: { hash: Uint8Array } | { access: Uint8Array } | { id: number }): Promise<TokenRow | undefined> => {
    const row = await findRow(rx, input);
    if (row === undefined || row.frozen_at !== null || row.revoked_at !== null) return undefined;
    // stop_agents froze all agents of the organization.
    const token = row.agents_stopped_at === null ? tokenOf(row) : { ...tokenOf(row), mode: 'frozen' as const };
    const own = await limitToMember(rx, { ...token, expiresAt: row.access_expires_at ?? token.expiresAt });
    return own && limitToParent(rx, own);
  },
);

type FoundToken = TokenColumns & {
  frozen_at: number | null;
  agents_stopped_at: number | null;
  access_expires_at?: number;
};

function findRow(
  rx: Read,
  input: { hash: Uint8Array } | { access: Uint8Array } | { id: number },
): Promise<FoundToken | undefined> {
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

/** Actions available to a token of a person with the role member. */
const MEMBER_ACTIONS = ['read', 'manage', 'send', 'mail_read', 'organize'];

/** Limits an OAuth token to its person's present membership, role and mailboxes. */
async function limitToMember(rx: Read, token: TokenRow): Promise<TokenRow | undefined> {
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

/** Limits a narrowed token to its parent's present actions and mailboxes; undefined if the parent is no longer valid. */
async function limitToParent(rx: Read, token: TokenRow): Promise<TokenRow | undefined> {
  if (token.parent === null) return token;
  const parent = await findToken.run(rx, { id: token.parent });
  if (parent === undefined) return undefined;
  return {
    ...token,
    actions: token.actions.filter((one) => isGrantedBy(parent.actions, one)),
    mailboxes: token.mailboxes?.filter((one) => parent.mailboxes?.includes(one) ?? true) ?? null,
  };
}

/** Actions of a limited token, each with another one that includes it (core/token.ts). */
const INCLUDED_IN: Readonly<Record<string, string>> = { mail_read: 'read', send: 'manage' };

function isGrantedBy(actions: readonly string[], one: string): boolean {
  return actions.includes(one) || actions.includes(INCLUDED_IN[one] ?? one);
}

/** Lists all tokens of an organization, revoked ones too. */
export const listTokens = lookup('list-tokens', async (rx, input: { organization: number }): Promise<TokenRow[]> => {
  const rows = await rx.all<TokenColumns>(
    'SELECT * FROM token WHERE organization_id = ? ORDER BY id',
    input.organization,
  );
  return rows.map(tokenOf);
});

function tokenOf(row: TokenColumns): TokenRow {
  return {
    id: row.id,
    organization: row.organization_id,
    name: row.name,
    shown: row.display_prefix,
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
