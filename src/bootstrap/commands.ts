import { purgeHits, takeHit, takeNoticeHit, msUntilHit } from '../core/hits-commands.ts';
import { sendNotice, type SystemNotice } from '../../mail/delivery/notice.ts';
import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import type { AuditEntry } from '../core/audit-row.ts';
import { publicId } from '../core/ids.ts';
import { insertOrganization, type NewOrganization } from '../organizations/commands.ts';
import { insertLink, insertMember, insertPendingUser } from '../people/commands.ts';
import { insertToken } from '../tokens/commands.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
export const CLAIM_DAYS = 14;

/** Input for a new organization; all random values are created before. */
export interface Bootstrap {
  organization: NewOrganization;
  /** The peer's network; null: not counted. */
  network: string | null;
  /** The owner; null: the organization is the caller's own. */
  owner: {
    email: string;
    key: string;
    displayName: string | null;
    /** Hashes of the address, as compared and without its +tag. */
    subject: string;
    base: string;
    /** Hashes of the two claim tokens, and the notice that carries the second. */
    returned: Uint8Array;
    mailed: Uint8Array;
    notice: SystemNotice<'claim'>;
  } | null;
  /** Null: the caller has a token already, or the endpoint issues none. */
  token: { hash: Uint8Array; shown: string; actions: readonly string[] } | null;
  entry: Omit<AuditEntry, 'organization' | 'target'>;
  /** Organization of the caller, if any: its audit log shows what was created, and whom it mailed. */
  requestedIn: number | null;
}

export type BootstrapResult =
  | {
      kind: 'made';
      organization: { id: number; slug: string; name: string };
      user: number | null;
      token: number | null;
      emailSent: boolean;
      claimExpiresAt: number;
    }
  | { kind: 'limited'; scope: 'ip' | 'box' | 'email'; waitMs: number };

/**
 * Creates an organization with everything that belongs to it, its queued claim notice and the rate counters included, in one
 * commit. Both bootstrap paths use it.
 */
export const bootstrapOrganization = command(
  'bootstrap-organization',
  async (tx, input: Bootstrap, stamp): Promise<BootstrapResult> => {
    const limited = await overLimit(tx, input, stamp);
    if (limited !== undefined) return limited;
    const made = await insertOrganization(tx, input.organization, stamp);
    const claimExpiresAt = stamp.now + CLAIM_DAYS * DAY;
    const owner = input.owner === null ? null : await addOwner(tx, input.owner, made.id, claimExpiresAt, stamp);
    const token = input.token === null ? null : await addFirstToken(tx, input, made.id, stamp);
    await appendAudit(tx, { ...input.entry, organization: made.id, target: input.organization.name }, 'made', stamp);
    if (input.requestedIn !== null)
      await auditRequest(tx, input, { requestedIn: input.requestedIn, created: made.id }, stamp);
    return {
      kind: 'made',
      organization: { id: made.id, slug: made.slug, name: input.organization.name },
      user: owner?.user ?? null,
      token,
      emailSent: owner?.emailSent ?? false,
      claimExpiresAt,
    };
  },
);

async function auditRequest(
  tx: Write,
  { entry, owner, organization }: Bootstrap,
  { requestedIn, created }: { requestedIn: number; created: number },
  stamp: Stamp,
): Promise<void> {
  const detail = { name: organization.name, ...(owner !== null && { ownerEmail: owner.email }) };
  await appendAudit(
    tx,
    { ...entry, organization: requestedIn, target: publicId('organization', created), detail },
    'made',
    stamp,
  );
}

async function overLimit(tx: Write, { network, owner }: Bootstrap, stamp: Stamp): Promise<BootstrapResult | undefined> {
  await purgeHits(tx, stamp.now - DAY);
  const checks = [
    network === null ? undefined : { scope: 'ip' as const, subject: network, most: 10, windowMs: HOUR },
    { scope: 'box' as const, subject: '', most: 500, windowMs: DAY },
    owner === null ? undefined : { scope: 'email' as const, subject: owner.subject, most: 1, windowMs: DAY },
  ];
  const allowances = checks.flatMap((one) =>
    one === undefined ? [] : [{ ...one, counter: `bootstrap-${one.scope}` }],
  );
  for (const one of allowances) {
    const waitMs = await msUntilHit(tx, one, stamp);
    if (waitMs > 0) return { kind: 'limited', scope: one.scope, waitMs };
  }
  // Only a created organization is counted, by every counter.
  for (const one of allowances) await takeHit(tx, one, stamp);
  return undefined;
}

async function addOwner(
  tx: Write,
  owner: NonNullable<Bootstrap['owner']>,
  organization: number,
  expiresAt: number,
  stamp: Stamp,
): Promise<{ user: number; emailSent: boolean }> {
  const user = await insertPendingUser(tx, owner, stamp);
  await insertMember(tx, { organization, user, role: 'owner' }, stamp);
  const link = { purpose: 'claim' as const, organization, user, email: owner.email, role: null, expiresAt };
  await insertLink(tx, { ...link, hash: owner.returned, mailed: false }, stamp);
  // Strangers may name other people's addresses: an address gets few notices a day, whatever its +tag.
  const wait = await takeNoticeHit(tx, 'claim', owner.base, stamp);
  if (wait > 0) return { user, emailSent: false };
  await insertLink(tx, { ...link, hash: owner.mailed, mailed: true }, stamp);
  await sendNotice(tx, owner.notice, stamp);
  return { user, emailSent: true };
}

function addFirstToken(tx: Write, { token, owner }: Bootstrap, organization: number, stamp: Stamp): Promise<number> {
  if (token === null) throw new Error('there is no token to add');
  return insertToken(
    tx,
    {
      ...token,
      organization,
      name: 'First token',
      project: null,
      service: null,
      mailboxes: null,
      owner: owner === null,
      createdBy: 'bootstrap',
      expiresAt: null,
    },
    stamp,
  );
}

/** Sends the claim notice again with a new link; the old ones stay valid. */
export const resendClaim = command(
  'resend-claim',
  async (
    tx,
    input: { organization: number; base: string; hash: Uint8Array; notice: SystemNotice<'claim'> },
    stamp,
  ): Promise<{ kind: 'sent' } | { kind: 'claimed' | 'no-owner' } | { kind: 'limited'; waitMs: number }> => {
    const row = await tx.get<{ user_id: number | null; email: string; claimed_at: number | null }>(
      `SELECT l.user_id, l.email, o.claimed_at FROM link l JOIN organization o ON o.id = l.organization_id
       WHERE l.organization_id = ? AND l.purpose = 'claim' ORDER BY l.id LIMIT 1`,
      input.organization,
    );
    if (row === undefined) return { kind: 'no-owner' };
    if (row.claimed_at !== null) return { kind: 'claimed' };
    const waitMs = await takeNoticeHit(tx, 'claim', input.base, stamp);
    if (waitMs > 0) return { kind: 'limited', waitMs };
    const { user_id: user, email } = row;
    const { organization, hash } = input;
    const expiresAt = stamp.now + CLAIM_DAYS * DAY;
    await insertLink(
      tx,
      { purpose: 'claim', organization, user, email, role: null, mailed: true, hash, expiresAt },
      stamp,
    );
    await sendNotice(tx, input.notice, stamp);
    return { kind: 'sent' };
  },
);
