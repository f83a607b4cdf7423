import { lookup, type Row } from '../../store/engine/types.ts';
import type { CanaryMark, ShownForm } from '../secrets/shown-secret.ts';

/** Canaries of one mailbox. */
export const MAX_CANARIES = 20;
/** Honeytokens of a tenant that are searched for, the oldest first. */
const MAX_HONEYTOKENS = 500;

/** A message, honeytoken or address that no honest agent touches. */
export interface Canary {
  id: number;
  account: number;
  label: string;
  email: number | null;
  address: string | null;
  /** It has a honeytoken. */
  secret: boolean;
  madeBy: string;
  /** ms UTC. */
  madeAt: number;
}

/** Ways to touch a canary: message opened, honeytoken in an answer, honeytoken in outgoing mail, mail to its address. */
export type TripKind = 'opened' | 'shown' | 'sent' | 'written-to';

export interface CanaryTrip {
  canary: number;
  /** Public id of a token, or of the mailbox whose password was used; '' if unknown. */
  credential: string;
  /** ms UTC. */
  at: number;
  protocol: string;
  what: TripKind;
  /** Addresses: the intended recipients, or the sender. */
  about: string[];
  /** ms UTC; null until a person has reviewed it. */
  settledAt: number | null;
}

/** Name of a canary among the kinds of secrets. */
export const canaryMark = (id: number): CanaryMark => `canary ${id}`;

/** Row of the canary that a kind names; undefined if it is no canary. */
export function canaryOf(mark: string): number | undefined {
  return mark.startsWith('canary ') ? Number(mark.slice(7)) : undefined;
}

interface FormRow extends Row {
  id: number;
  length: number;
  print: number;
  digest: Uint8Array;
}

/** Honeytokens of a tenant in the form that texts are searched for. */
export const canaryForms = lookup('canary-forms', async (rx, { tenant }: { tenant: number }): Promise<ShownForm[]> => {
  const rows = await rx.all<FormRow>(
    'SELECT id, length, print, digest FROM canary WHERE tenant = ? AND digest IS NOT NULL ORDER BY id LIMIT ?',
    tenant,
    MAX_HONEYTOKENS,
  );
  return rows.map(({ id, ...form }) => ({ kind: canaryMark(id), ...form }));
});

/** Canaries among messages of an account, copies included. */
export const canaryMessages = lookup(
  'canary-messages',
  async (rx, { account, emails }: { account: number; emails: readonly number[] }): Promise<number[]> => {
    const rows = await rx.all<{ id: number }>(
      `SELECT DISTINCT c.id FROM json_each(?2) g CROSS JOIN email e ON e.id = g.value
         CROSS JOIN canary c ON c.blob_id = e.blob_id WHERE c.tenant = (SELECT tenant FROM account WHERE id = ?1)`,
      account,
      JSON.stringify(emails),
    );
    return rows.map(({ id }) => id);
  },
);

/** Canaries among addresses, given by all their lookup keys. */
export const canaryAddresses = lookup(
  'canary-addresses',
  async (rx, { tenant, keys }: { tenant: number; keys: readonly string[] }): Promise<number[]> => {
    const rows = await rx.all<{ id: number }>(
      `SELECT id FROM canary WHERE tenant = ? AND address_key IN (SELECT value FROM json_each(?, '$'))`,
      tenant,
      JSON.stringify(keys),
    );
    return rows.map(({ id }) => id);
  },
);

interface CanaryRow extends Row {
  id: number;
  account_id: number;
  label: string;
  email_id: number | null;
  address_key: string | null;
  secret: number;
  created_by: string;
  created_at: number;
}

/** Canaries of an account, oldest first. */
export const canariesOf = lookup('canaries-of', async (rx, { account }: { account: number }): Promise<Canary[]> => {
  const rows = await rx.all<CanaryRow>(
    `SELECT id, account_id, label, email_id, address_key, digest IS NOT NULL AS secret, created_by, created_at
     FROM canary WHERE account_id = ? ORDER BY id`,
    account,
  );
  return rows.map((row) => ({
    id: row.id,
    account: row.account_id,
    label: row.label,
    email: row.email_id,
    address: row.address_key,
    secret: row.secret === 1,
    madeBy: row.created_by,
    madeAt: row.created_at,
  }));
});

/** Account of a tenant's canary; undefined if the tenant has no such canary. */
export const canaryHome = lookup(
  'canary-home',
  async (rx, { tenant, id }: { tenant: number; id: number }): Promise<number | undefined> => {
    const row = await rx.get<{ account_id: number }>(
      'SELECT account_id FROM canary WHERE id = ? AND tenant = ?',
      id,
      tenant,
    );
    return row?.account_id;
  },
);

interface TripRow extends Row {
  canary_id: number;
  credential: string;
  at: number;
  protocol: string;
  what: TripKind;
  detail: string;
  reviewed_at: number | null;
}

/** Trips of the canaries of an account, newest first. */
export const tripsOf = lookup('trips-of', async (rx, { account }: { account: number }): Promise<CanaryTrip[]> => {
  const rows = await rx.all<TripRow>(
    `SELECT t.canary_id, t.credential, t.at, t.protocol, t.action AS what, t.detail, t.reviewed_at FROM canary c
     JOIN canary_trip t ON t.canary_id = c.id WHERE c.account_id = ? ORDER BY t.at DESC LIMIT 200`,
    account,
  );
  return rows.map(tripOf);
});

function tripOf(row: TripRow): CanaryTrip {
  return {
    canary: row.canary_id,
    credential: row.credential,
    at: row.at,
    protocol: row.protocol,
    what: row.what,
    about: JSON.parse(row.detail) as string[],
    settledAt: row.reviewed_at,
  };
}

/** Mailboxes of a tenant with trips that nobody has reviewed. */
export const trippedAccounts = lookup(
  'tripped-accounts',
  async (rx, { tenant }: { tenant: number }): Promise<number[]> => {
    const rows = await rx.all<{ account_id: number }>(
      `SELECT DISTINCT c.account_id FROM canary c JOIN canary_trip t ON t.canary_id = c.id
       WHERE c.tenant = ? AND t.reviewed_at IS NULL LIMIT 20`,
      tenant,
    );
    return rows.map((row) => row.account_id);
  },
);

export type UnreportedTrip = CanaryTrip & { tenant: number; account: number; label: string; address: string | null };

/** Trips without a notice to the owners, oldest first. */
export const unreportedTrips = lookup(
  'unnotified-trips',
  async (rx, { limit }: { limit: number }): Promise<UnreportedTrip[]> => {
    const rows = await rx.all<
      TripRow & { tenant: number; account_id: number; label: string; address_key: string | null }
    >(
      `SELECT t.canary_id, t.credential, t.at, t.protocol, t.action AS what, t.detail, t.reviewed_at, c.tenant, c.account_id, c.label,
       c.address_key
     FROM canary_trip t JOIN canary c ON c.id = t.canary_id WHERE t.notified_at IS NULL ORDER BY t.at LIMIT ?`,
      limit,
    );
    return rows.map((row) => ({
      ...tripOf(row),
      tenant: row.tenant,
      account: row.account_id,
      label: row.label,
      address: row.address_key,
    }));
  },
);
