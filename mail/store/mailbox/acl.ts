import { addressKey, parseAddress } from '../../message/address.ts';
import { type Actor, isHuman } from '../actor.ts';
import type { PasswordActor } from '../actor-types.ts';
import { command, lookup, query, type Read, type Write } from '../engine/types.ts';
import { findMailbox, listMailboxes, type MailboxInfo } from './mailbox.ts';

/** Rights that can be granted: lookup, read, \Seen, write flags, insert, delete messages, expunge, annotate. RFC 4314 2.1. */
export const GRANTABLE_RIGHTS = 'lrswiten';

/** Rights by the access that people choose: to look; to mark as read too; to add and label too; to move and delete too. */
export const ACCESS_RIGHTS = { none: '', view: 'lr', read: 'lrs', add: 'lrswi', write: GRANTABLE_RIGHTS } as const;

/** The access that people choose; `custom` for rights that were set by IMAP. */
export function accessOf(rights: string): string {
  return Object.entries(ACCESS_RIGHTS).find(([, letters]) => letters === rights)?.[0] ?? 'custom';
}

/** Accounts that share one mailbox. */
const MAX_GRANTS_OF_MAILBOX = 100;
/** Mailboxes that are shared with one account: LIST reads them all. */
const MAX_GRANTS_OF_ACCOUNT = 500;

/** A login that uses mailboxes of others. Mailboxes are shared between people: an agent's login has none. */
export interface SharingLogin {
  account: number;
  /** The password of the login. */
  actor: PasswordActor | undefined;
  /** True for a person who was identified without a password of the mailbox, by a session that was checked. */
  byPerson?: boolean;
}

/** Tests if mailboxes may be shared with a login: it is a person's. A password may have become an agent's meanwhile. */
export async function isPersonsLogin(rx: Read, { account, actor, byPerson = false }: SharingLogin): Promise<boolean> {
  return byPerson || isHuman(rx, account, actor);
}

/** The access of one account to a mailbox of another. */
export interface MailboxGrant {
  owner: number;
  rights: string;
}

/** A mailbox of another account, with the rights on it. */
export interface SharedMailbox extends MailboxGrant {
  /** Address of the owner. */
  address: string;
  subscribed: boolean;
  /** Its facts in the account of the owner. */
  info: MailboxInfo;
}

type GrantRow = { mailbox: number; owner: number; address: string; rights: string; subscribed: number };

/** SQL: grants `c` of mailboxes `m` of owners `o` that are in effect: both accounts are active and of one organization. */
export const GRANTS_IN_EFFECT = `mailbox_acl c CROSS JOIN account me ON me.id = c.account_id
  CROSS JOIN mailbox m ON m.id = c.mailbox_id CROSS JOIN account o ON o.id = m.account_id
  WHERE c.account_id = ?1 AND m.deleted_at IS NULL
    AND me.state = 1 AND o.state = 1 AND o.tenant = me.tenant AND o.id <> me.id`;

const GRANTS = `SELECT c.mailbox_id AS mailbox, m.account_id AS owner, o.address, c.rights, c.subscribed
  FROM ${GRANTS_IN_EFFECT} AND (?2 IS NULL OR c.mailbox_id = ?2)`;

async function grantsOf(rx: Read, login: SharingLogin, mailbox: number | null): Promise<GrantRow[]> {
  return (await isPersonsLogin(rx, login)) ? rx.all<GrantRow>(GRANTS, login.account, mailbox) : [];
}

/** The rights of a login on a mailbox of another account; undefined: none. */
export const mailboxGrant = query(
  'mailbox-grant',
  async (rx, { mailbox, ...login }: SharingLogin & { mailbox: number }): Promise<MailboxGrant | undefined> => {
    const [row] = await grantsOf(rx, login, mailbox);
    return row && { owner: row.owner, rights: row.rights };
  },
);

/** All mailboxes that others share with a login. */
export const sharedMailboxes = query('shared-mailboxes', async (rx, login: SharingLogin): Promise<SharedMailbox[]> => {
  const shared: SharedMailbox[] = [];
  for (const [account, rows] of Map.groupBy(await grantsOf(rx, login, null), ({ owner }) => owner)) {
    const infos = new Map((await listMailboxes.run(rx, { account })).map((info) => [info.id, info]));
    for (const row of rows) {
      const info = infos.get(row.mailbox);
      if (info !== undefined) shared.push({ ...row, subscribed: row.subscribed === 1, info });
    }
  }
  return shared;
});

/** One mailbox that another account shares with a login, by the owner's address and its name there. */
export const sharedMailbox = query(
  'shared-mailbox',
  async (
    rx,
    { address, name, ...login }: SharingLogin & { address: string; name: string },
  ): Promise<SharedMailbox | undefined> => {
    const owner = await colleague(rx, login.account, address);
    const info = owner === undefined ? undefined : await findMailbox.run(rx, { account: owner, name });
    const [row] = info === undefined ? [] : await grantsOf(rx, login, info.id);
    return row && info && { ...row, subscribed: row.subscribed === 1, info };
  },
);

/** The active account of the same organization that has an address as its primary one. */
async function colleague(rx: Read, account: number, text: string): Promise<number | undefined> {
  const address = parseAddress(text);
  if (address === undefined) return undefined;
  const row = await rx.get<{ id: number }>(
    `SELECT o.id FROM account me CROSS JOIN address d ON d.key = ?2 AND d.kind = 'mailbox'
       CROSS JOIN account o ON o.id = d.account_id
     WHERE me.id = ?1 AND o.tenant = me.tenant AND o.state = 1 AND o.id <> me.id`,
    account,
    addressKey(address),
  );
  return row?.id;
}

/** One grant of a mailbox, as its owner sees it. */
export interface GrantedAccess extends Record<string, string> {
  address: string;
  rights: string;
}

/** Accounts with which an account shares its mailbox; also those for which it has no effect now. */
export const grantsOnMailbox = lookup(
  'grants-on-mailbox',
  (rx, { account, mailbox }: { account: number; mailbox: number }): Promise<GrantedAccess[]> =>
    rx.all<GrantedAccess>(
      `SELECT a.address, c.rights FROM mailbox m CROSS JOIN mailbox_acl c ON c.mailbox_id = m.id
         CROSS JOIN account a ON a.id = c.account_id
       WHERE m.id = ? AND m.account_id = ? AND a.state < 2 ORDER BY a.id`,
      mailbox,
      account,
    ),
);

/** One grant of an account, with the name of the mailbox. */
interface FolderGrant {
  mailbox: number;
  folder: string;
  address: string;
  rights: string;
}

/** All grants of an account, with the names of its mailboxes. */
export const grantsOfAccount = query(
  'grants-of-account',
  async (rx, { account }: { account: number }): Promise<FolderGrant[]> => {
    const rows = await rx.all<{ mailbox: number; address: string; rights: string }>(
      `SELECT c.mailbox_id AS mailbox, a.address, c.rights FROM mailbox m CROSS JOIN mailbox_acl c ON c.mailbox_id = m.id
         CROSS JOIN account a ON a.id = c.account_id
       WHERE m.account_id = ? AND m.deleted_at IS NULL AND a.state < 2 ORDER BY m.id, a.id`,
      account,
    );
    if (rows.length === 0) return [];
    const names = new Map((await listMailboxes.run(rx, { account })).map(({ id, name }) => [id, name]));
    return rows.map(({ mailbox, address, rights }) => ({ mailbox, folder: names.get(mailbox) ?? '', address, rights }));
  },
);

export type GrantResult = { kind: 'set' | 'unknown-address' | 'missing' | 'too-many' | 'not-allowed' };

/** A change of the rights of one account on a mailbox; '' with `set` revokes. */
export interface GrantChange {
  /** Owner of the mailbox. */
  account: number;
  mailbox: number;
  /** Primary address of an account of the same organization. */
  address: string;
  how: 'set' | 'add' | 'remove';
  /** Letters of {@link GRANTABLE_RIGHTS}. */
  rights: string;
}

/** Changes a grant for the appliance, which has checked who asks. */
export const grantMailbox = command('grant-mailbox', (tx, input: GrantChange, { now }) => changeGrant(tx, input, now));

/** Changes a grant by IMAP: only a person's login shares mail. */
export const grantByLogin = command(
  'grant-by-login',
  async (tx, input: GrantChange & { actor: Actor | undefined }, { now }): Promise<GrantResult> =>
    (await isHuman(tx, input.account, input.actor)) ? changeGrant(tx, input, now) : { kind: 'not-allowed' },
);

async function changeGrant(tx: Write, input: GrantChange, now: number): Promise<GrantResult> {
  const { account, mailbox, how } = input;
  const mine = 'SELECT 1 AS mine FROM mailbox WHERE id = ? AND account_id = ? AND deleted_at IS NULL';
  if ((await tx.get(mine, mailbox, account)) === undefined) return { kind: 'missing' };
  const other = await granteeOf(tx, input);
  if (other === undefined) return { kind: 'unknown-address' };
  const before = await tx.get<{ rights: string }>(
    'SELECT rights FROM mailbox_acl WHERE mailbox_id = ? AND account_id = ?',
    mailbox,
    other,
  );
  const rights = combinedRights(before?.rights ?? '', how, input.rights);
  if (rights === '') {
    await tx.run('DELETE FROM mailbox_acl WHERE mailbox_id = ? AND account_id = ?', mailbox, other);
  } else {
    if (before === undefined && (await hasTooManyGrants(tx, mailbox, other))) return { kind: 'too-many' };
    await tx.run(
      `INSERT INTO mailbox_acl (mailbox_id, account_id, rights, created_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (mailbox_id, account_id) DO UPDATE SET rights = excluded.rights`,
      mailbox,
      other,
      rights,
      now,
    );
  }
  // Wakes its sessions: they check their rights again.
  tx.touched(other);
  return { kind: 'set' };
}

/** The account that a change is about. A grant can be revoked also when its account is frozen. */
async function granteeOf(
  tx: Write,
  { account, mailbox, address, rights, how }: GrantChange,
): Promise<number | undefined> {
  const active = await colleague(tx, account, address);
  if (active !== undefined || (how !== 'remove' && rights !== '')) return active;
  const row = await tx.get<{ id: number }>(
    `SELECT a.id FROM mailbox_acl c CROSS JOIN account a ON a.id = c.account_id
     WHERE c.mailbox_id = ? AND lower(a.address) = lower(?)`,
    mailbox,
    address,
  );
  return row?.id;
}

async function hasTooManyGrants(tx: Write, mailbox: number, account: number): Promise<boolean> {
  const row = await tx.get<{ mailbox: number; account: number }>(
    `SELECT (SELECT count(*) FROM mailbox_acl WHERE mailbox_id = ?) AS mailbox,
       (SELECT count(*) FROM mailbox_acl WHERE account_id = ?) AS account`,
    mailbox,
    account,
  );
  return (row?.mailbox ?? 0) >= MAX_GRANTS_OF_MAILBOX || (row?.account ?? 0) >= MAX_GRANTS_OF_ACCOUNT;
}

function combinedRights(before: string, how: GrantChange['how'], given: string): string {
  const has = (letter: string): boolean => {
    if (how === 'set') return given.includes(letter);
    return how === 'add' ? (before + given).includes(letter) : before.includes(letter) && !given.includes(letter);
  };
  return Array.from(GRANTABLE_RIGHTS).filter(has).join('');
}

/** Subscribes an account to a mailbox that is shared with it. */
export const subscribeShared = command(
  'subscribe-shared',
  async (
    tx,
    { account, mailbox, on }: { account: number; mailbox: number; on: boolean },
  ): Promise<'done' | 'missing'> => {
    const { changes } = await tx.run(
      'UPDATE mailbox_acl SET subscribed = ? WHERE mailbox_id = ? AND account_id = ?',
      Number(on),
      mailbox,
      account,
    );
    tx.touched(account);
    return changes === 1 ? 'done' : 'missing';
  },
);
