import { dropClaims } from '../../mail/store/claim-commands.ts';
import { attachPolicy, inheritPolicy } from '../../mail/store/agent-policy.ts';
import { command, query, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { publicId } from '../ids.ts';
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
  /** Agent policy that it is under; left out: that of who makes it, if any. */
  policy?: number | undefined;
}

/** Without a policy of its own a token is under that of the token that makes it. */
export async function insertToken(tx: Write, token: NewToken, stamp: Stamp): Promise<number> {
  const { id } = await tx.run(
    `INSERT INTO token (token_hash, organization_id, name, shown, actions, project_id, service_id, mailboxes, owner,
       created_by, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
  );
  const credential = publicId('token', id);
  if (token.policy === undefined) await inheritPolicy(tx, token.organization, token.createdBy, credential);
  else await attachPolicy(tx, { credential }, token.policy);
  return id;
}

export const addToken = command('add-token', insertToken);

/** Ends a token at once; what it had accepted goes on. */
export const revokeToken = command(
  'revoke-token',
  async (tx, input: { id: number; organization: number }, stamp): Promise<{ kind: 'revoked' | 'missing' }> => {
    const { changes } = await tx.run(
      'UPDATE token SET revoked_at = coalesce(revoked_at, ?) WHERE id = ? AND organization_id = ?',
      stamp.now,
      input.id,
      input.organization,
    );
    if (changes === 1) await dropClaims(tx, `tok_${input.id}`, stamp);
    if (changes === 1) await attachPolicy(tx, { credential: publicId('token', input.id) }, null);
    return { kind: changes === 1 ? 'revoked' : 'missing' };
  },
);

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
  createdBy: string;
  createdAt: number;
  expiresAt: number | null;
  lastUsedAt: number | null;
  revokedAt: number | null;
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
  created_by: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
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
    const token = tokenOf(row);
    return withinPerson(rx, { ...token, expiresAt: row.access_expires_at ?? token.expiresAt });
  },
);

type Found = Columns & { frozen_at: number | null; access_expires_at?: number };

function findRow(
  rx: Read,
  input: { hash: Uint8Array } | { access: Uint8Array } | { id: number },
): Promise<Found | undefined> {
  if ('id' in input) {
    return rx.get(
      'SELECT t.*, o.frozen_at FROM token t JOIN organization o ON o.id = t.organization_id WHERE t.id = ?',
      input.id,
    );
  }
  if ('hash' in input) {
    return rx.get(
      'SELECT t.*, o.frozen_at FROM token t JOIN organization o ON o.id = t.organization_id WHERE t.token_hash = ?',
      input.hash,
    );
  }
  return rx.get(
    `SELECT t.*, o.frozen_at, s.expires_at AS access_expires_at FROM oauth_secret s
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
    createdBy: row.created_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
    oauth: row.client_id === null ? null : { client: row.client_id, user: row.user_id ?? 0 },
  };
}
