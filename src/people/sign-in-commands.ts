import { OPERATOR } from '../../mail/store/account.ts';
import { command, type Read, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import type { AuditEntry } from '../audit/row.ts';
import { insertToken } from '../tokens/commands.ts';
import { insertLink, insertMember, insertPendingUser } from './commands.ts';

const DAY = 86_400_000;
/** A sign-in link is good for so long; what is printed beside it says so. */
const SIGN_IN_MS = DAY;
const CLAIM_MS = 14 * DAY;

/** What the box does by itself at a start. */
const BY_ITSELF = { organization: OPERATOR, actor: 'mailstead', actorName: '', way: 'box', ip: '' } as const;

/**
 * Local mode's first start: the person of the first mailbox owns the operator's organization, with a link to sign in
 * once and a token that may do everything. One commit, so there is no half of it.
 */
export const welcomeOperator = command(
  'welcome-operator',
  async (
    tx,
    input: {
      owner: { email: string; key: string };
      link: Uint8Array;
      token: { hash: Uint8Array; shown: string; actions: readonly string[] };
    },
    stamp,
  ): Promise<{ user: number; token: number }> => {
    const { owner, link } = input;
    const user = (await memberOf(tx, owner.key))?.id ?? (await makeOwner(tx, owner, stamp));
    await replaceSignIn(tx, { user, hash: link }, stamp);
    const limits = { project: null, service: null, mailboxes: null, expiresAt: null };
    const row = { ...input.token, ...limits, organization: OPERATOR, name: 'First token', owner: false };
    const token = await insertToken(tx, { ...row, createdBy: 'bootstrap' }, stamp);
    const entry: AuditEntry = { ...BY_ITSELF, operation: 'first_start', target: owner.email, detail: {} };
    await appendAudit(tx, entry, 'done', stamp);
    return { user, token };
  },
);

async function makeOwner(tx: Write, owner: { email: string; key: string }, stamp: Stamp): Promise<number> {
  const user = await insertPendingUser(tx, { ...owner, displayName: null }, stamp);
  await insertMember(tx, { organization: OPERATOR, user, role: 'owner' }, stamp);
  return user;
}

/** A member of the operator's organization: by address, or the first owner. */
async function memberOf(rx: Read, key: string | null): Promise<{ id: number; email: string } | undefined> {
  return rx.get<{ id: number; email: string }>(
    `SELECT u.id, u.email FROM member m JOIN user u ON u.id = m.user_id
     WHERE m.organization_id = ? AND (u.email_key = ? OR (? IS NULL AND m.role = 'owner'))
     ORDER BY u.password IS NULL, u.id LIMIT 1`,
    OPERATOR,
    key,
    key,
  );
}

/** Of one person only the newest sign-in link opens anything. */
async function replaceSignIn(
  tx: Write,
  { user, hash }: { user: number; hash: Uint8Array },
  stamp: Stamp,
): Promise<number> {
  await tx.run(
    `UPDATE link SET used_at = ? WHERE user_id = ? AND purpose = 'sign-in' AND used_at IS NULL`,
    stamp.now,
    user,
  );
  const expiresAt = stamp.now + SIGN_IN_MS;
  const link = { purpose: 'sign-in' as const, organization: null, user, email: null, role: null, mailed: false };
  await insertLink(tx, { ...link, hash, expiresAt }, stamp);
  return expiresAt;
}

/** A new sign-in link for a member of the operator's organization; `key` null: for its first owner. */
export const addSignInLink = command(
  'add-sign-in-link',
  async (
    tx,
    input: { key: string | null; hash: Uint8Array },
    stamp,
  ): Promise<{ kind: 'added'; email: string; expiresAt: number } | { kind: 'nobody' }> => {
    const person = await memberOf(tx, input.key);
    if (person === undefined) return { kind: 'nobody' };
    const expiresAt = await replaceSignIn(tx, { user: person.id, hash: input.hash }, stamp);
    return { kind: 'added', email: person.email, expiresAt };
  },
);

/**
 * A new claim link of the operator's organization, at each start until somebody has claimed it. It names nobody: who
 * opens it says who they are. The ones before are dead, as they stand in old logs.
 */
export const renewOperatorClaim = command(
  'renew-operator-claim',
  async (tx, input: { hash: Uint8Array }, stamp): Promise<{ kind: 'renewed' | 'claimed' }> => {
    const row = await tx.get<{ claimed_at: number | null }>(
      'SELECT claimed_at FROM organization WHERE id = ?',
      OPERATOR,
    );
    if (row === undefined || row.claimed_at !== null) return { kind: 'claimed' };
    await tx.run(
      `UPDATE link SET used_at = ? WHERE organization_id = ? AND purpose = 'claim' AND used_at IS NULL`,
      stamp.now,
      OPERATOR,
    );
    const link = { purpose: 'claim' as const, organization: OPERATOR, user: null, email: null, role: null };
    const expiresAt = stamp.now + CLAIM_MS;
    await insertLink(tx, { ...link, mailed: false, hash: input.hash, expiresAt }, stamp);
    const entry: AuditEntry = { ...BY_ITSELF, operation: 'renew_claim_link', target: 'claim link', detail: {} };
    await appendAudit(tx, entry, 'done', stamp);
    return { kind: 'renewed' };
  },
);
