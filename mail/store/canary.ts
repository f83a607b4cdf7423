import { query, type Read, type Row } from './engine/types.ts';
import type { CanaryMark, ShownForm } from './shown-secret.ts';

/** Canaries of one mailbox. */
export const MOST_CANARIES = 20;
/** Honeytokens of a tenant that are looked for; the oldest first, as nobody remembers where those lie. */
const MOST_SOUGHT = 500;

/** Something that nobody has a reason to touch. */
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

/** How somebody came upon a canary: as a message, as a text in an answer, in mail that should leave, at its address. */
export type TripKind = 'opened' | 'shown' | 'sent' | 'written-to';

export interface CanaryTrip {
  canary: number;
  /** Public id of a token, or of the mailbox whose password it was; '': nobody knows. */
  credential: string;
  /** ms UTC. */
  at: number;
  door: string;
  what: TripKind;
  /** Addresses: who should have got it, or who wrote. */
  about: string[];
  /** ms UTC; null: nobody has looked at it. */
  settledAt: number | null;
}

/** As what a canary is found in a text. */
export const markOf = (id: number): CanaryMark => `canary ${id}`;

/** The canary that was found; undefined: it is no canary. */
export function canaryOf(mark: string): number | undefined {
  return mark.startsWith('canary ') ? Number(mark.slice(7)) : undefined;
}

interface FormRow extends Row {
  id: number;
  length: number;
  print: number;
  digest: Uint8Array;
}

/** The honeytokens of a tenant, as they are found in texts. */
export const canaryForms = query('canary-forms', async (rx, { tenant }: { tenant: number }): Promise<ShownForm[]> => {
  const rows = await rx.all<FormRow>(
    'SELECT id, length, print, digest FROM canary WHERE tenant = ? AND digest IS NOT NULL ORDER BY id LIMIT ?',
    tenant,
    MOST_SOUGHT,
  );
  return rows.map(({ id, ...form }) => ({ kind: markOf(id), ...form }));
});

/** Which canaries these messages of an account are, or are copies of. */
export const canaryMessages = query(
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

/** Which canaries these addresses are, in all forms under which they are looked up. */
export const canaryAddresses = query(
  'canary-addresses',
  async (rx, { tenant, keys }: { tenant: number; keys: readonly string[] }): Promise<number[]> => {
    const rows = await rx.all<{ id: number }>(
      'SELECT id FROM canary WHERE tenant = ? AND address_key IN (SELECT value FROM json_each(?))',
      tenant,
      JSON.stringify(keys),
    );
    return rows.map(({ id }) => id);
  },
);

/** The account to which mail for an address goes that is a canary. */
export async function canaryAccount(rx: Read, domain: number, key: string): Promise<number | null> {
  const row = await rx.get<{ account_id: number }>(
    'SELECT account_id FROM canary WHERE address_key = ? AND domain_id = ?',
    key,
    domain,
  );
  return row?.account_id ?? null;
}

interface CanaryRow extends Row {
  id: number;
  account_id: number;
  label: string;
  email_id: number | null;
  address_key: string | null;
  secret: number;
  made_by: string;
  made_at: number;
}

/** The canaries of an account, oldest first. */
export const canariesOf = query('canaries-of', async (rx, { account }: { account: number }): Promise<Canary[]> => {
  const rows = await rx.all<CanaryRow>(
    `SELECT id, account_id, label, email_id, address_key, digest IS NOT NULL AS secret, made_by, made_at
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
    madeBy: row.made_by,
    madeAt: row.made_at,
  }));
});

/** The account of a tenant's canary; undefined: the tenant has none such. */
export const canaryHome = query(
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
  door: string;
  what: TripKind;
  detail: string;
  settled_at: number | null;
}

/** Who went to the canaries of an account, newest first. */
export const tripsOf = query('trips-of', async (rx, { account }: { account: number }): Promise<CanaryTrip[]> => {
  const rows = await rx.all<TripRow>(
    `SELECT t.canary_id, t.credential, t.at, t.door, t.what, t.detail, t.settled_at FROM canary c
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
    door: row.door,
    what: row.what,
    about: JSON.parse(row.detail) as string[],
    settledAt: row.settled_at,
  };
}

/** Mailboxes of a tenant with trips at which nobody has looked. */
export const trippedAccounts = query(
  'tripped-accounts',
  async (rx, { tenant }: { tenant: number }): Promise<number[]> => {
    const rows = await rx.all<{ account_id: number }>(
      `SELECT DISTINCT c.account_id FROM canary c JOIN canary_trip t ON t.canary_id = c.id
       WHERE c.tenant = ? AND t.settled_at IS NULL LIMIT 20`,
      tenant,
    );
    return rows.map((row) => row.account_id);
  },
);

export type UntoldTrip = CanaryTrip & { tenant: number; account: number; label: string; address: string | null };

/** Trips of which nobody was told, oldest first. */
export const untoldTrips = query('untold-trips', async (rx, { limit }: { limit: number }): Promise<UntoldTrip[]> => {
  const rows = await rx.all<
    TripRow & { tenant: number; account_id: number; label: string; address_key: string | null }
  >(
    `SELECT t.canary_id, t.credential, t.at, t.door, t.what, t.detail, t.settled_at, c.tenant, c.account_id, c.label,
       c.address_key
     FROM canary_trip t JOIN canary c ON c.id = t.canary_id WHERE t.told_at IS NULL ORDER BY t.at LIMIT ?`,
    limit,
  );
  return rows.map((row) => ({
    ...tripOf(row),
    tenant: row.tenant,
    account: row.account_id,
    label: row.label,
    address: row.address_key,
  }));
});
