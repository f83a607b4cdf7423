import { type Outgoing, send } from '../../mail/delivery/submit.ts';
import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { appendAudit } from '../audit/commands.ts';
import type { AuditEntry } from '../audit/row.ts';
import { publicId } from '../ids.ts';
import { insertOrganization, type NewOrganization } from '../organizations/commands.ts';
import { insertLink, insertMember, insertPendingUser } from '../people/commands.ts';
import { insertToken } from '../tokens/commands.ts';
import { forgetHits, takeHit, waitForHit } from './hits-commands.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
export const CLAIM_DAYS = 14;

/** An organization as it is asked for; everything random was made before. */
export interface Bootstrap {
  organization: NewOrganization;
  /** The peer's address or network; null: it is not counted. */
  network: string | null;
  /** The human owner; null: the organization is the caller's own. */
  owner: {
    email: string;
    key: string;
    displayName: string | null;
    /** Hashes of the address, as compared and without its +tag. */
    subject: string;
    base: string;
    /** Hashes of the two claim tokens, and the letter that carries the second. */
    returned: Uint8Array;
    mailed: Uint8Array;
    letter: Outgoing;
  } | null;
  /** Null: the caller holds a token already, or the door gives none. */
  token: { hash: Uint8Array; shown: string; actions: readonly string[] } | null;
  entry: Omit<AuditEntry, 'organization' | 'target'>;
  /** Of whoever asks, where it is in one already: its people see there what was made, and who was mailed. */
  askedIn: number | null;
}

export type Bootstrapped =
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
 * Makes an organization with all that belongs to it, its claim mail in the queue included, in one commit. The counters
 * are in it too: exact under any number of calls at once. Both bootstrap paths come here.
 */
export const bootstrapOrganization = command(
  'bootstrap-organization',
  async (tx, input: Bootstrap, stamp): Promise<Bootstrapped> => {
    const limited = await overLimit(tx, input, stamp);
    if (limited !== undefined) return limited;
    const made = await insertOrganization(tx, input.organization, stamp);
    const claimExpiresAt = stamp.now + CLAIM_DAYS * DAY;
    const owner = input.owner === null ? null : await addOwner(tx, input.owner, made.id, claimExpiresAt, stamp);
    const token = input.token === null ? null : await addFirstToken(tx, input, made.id, stamp);
    await appendAudit(tx, { ...input.entry, organization: made.id, target: input.organization.name }, 'made', stamp);
    if (input.askedIn !== null) await noteAsked(tx, input, { askedIn: input.askedIn, made: made.id }, stamp);
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

async function noteAsked(
  tx: Write,
  { entry, owner, organization }: Bootstrap,
  { askedIn, made }: { askedIn: number; made: number },
  stamp: Stamp,
): Promise<void> {
  const detail = { name: organization.name, ...(owner !== null && { ownerEmail: owner.email }) };
  await appendAudit(
    tx,
    { ...entry, organization: askedIn, target: publicId('organization', made), detail },
    'made',
    stamp,
  );
}

async function overLimit(tx: Write, { network, owner }: Bootstrap, stamp: Stamp): Promise<Bootstrapped | undefined> {
  await forgetHits(tx, stamp.now - DAY);
  const checks = [
    network === null ? undefined : { scope: 'ip' as const, subject: network, most: 10, windowMs: HOUR },
    { scope: 'box' as const, subject: '', most: 500, windowMs: DAY },
    owner === null ? undefined : { scope: 'email' as const, subject: owner.subject, most: 1, windowMs: DAY },
  ];
  const allowances = checks.flatMap((one) =>
    one === undefined ? [] : [{ ...one, counter: `bootstrap-${one.scope}` }],
  );
  for (const one of allowances) {
    const waitMs = await waitForHit(tx, one, stamp);
    if (waitMs > 0) return { kind: 'limited', scope: one.scope, waitMs };
  }
  // Only what is made is counted, by all that would count it.
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
  // Strangers name other people's addresses: whom they name gets few letters a day, whatever +tag is written.
  const wait = await takeHit(tx, { counter: 'claim-mail', subject: owner.base, most: 5, windowMs: DAY }, stamp);
  if (wait > 0) return { user, emailSent: false };
  await insertLink(tx, { ...link, hash: owner.mailed, mailed: true }, stamp);
  await send(tx, owner.letter, stamp);
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

/** Sends the claim letter again: a new mailed link, the old ones stay good. */
export const resendClaim = command(
  'resend-claim',
  async (
    tx,
    input: { organization: number; base: string; hash: Uint8Array; letter: Outgoing },
    stamp,
  ): Promise<{ kind: 'sent' } | { kind: 'claimed' | 'no-owner' } | { kind: 'limited'; waitMs: number }> => {
    const row = await tx.get<{ user_id: number | null; email: string; claimed_at: number | null }>(
      `SELECT l.user_id, l.email, o.claimed_at FROM link l JOIN organization o ON o.id = l.organization_id
       WHERE l.organization_id = ? AND l.purpose = 'claim' ORDER BY l.id LIMIT 1`,
      input.organization,
    );
    if (row === undefined) return { kind: 'no-owner' };
    if (row.claimed_at !== null) return { kind: 'claimed' };
    const waitMs = await takeHit(tx, { counter: 'claim-mail', subject: input.base, most: 5, windowMs: DAY }, stamp);
    if (waitMs > 0) return { kind: 'limited', waitMs };
    const { user_id: user, email } = row;
    const { organization, hash } = input;
    const expiresAt = stamp.now + CLAIM_DAYS * DAY;
    await insertLink(
      tx,
      { purpose: 'claim', organization, user, email, role: null, mailed: true, hash, expiresAt },
      stamp,
    );
    await send(tx, input.letter, stamp);
    return { kind: 'sent' };
  },
);
