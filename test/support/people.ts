import { accountKeyOf } from '../../mail/login/throttle.ts';
import type { NoticeKind, SystemNotice } from '../../mail/delivery/notice.ts';
import { deliveryTrace } from '../../mail/delivery/deliver.ts';
import { command, query } from '../../mail/store/engine/types.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { type BootstrapResult, bootstrapOrganization } from '../../src/bootstrap/commands.ts';
import type { ClaimedBy } from '../../src/people/claim-commands.ts';
import { claimOrganization } from '../../src/people/claim-commands.ts';
import type { LinkPurpose } from '../../src/people/commands.ts';
import { insertLink, insertPendingUser } from '../../src/people/commands.ts';
import { newSecret } from '../../src/people/secrets.ts';
import { outgoing } from './submission.ts';

export const DAY = 86_400_000;

/** Puts a link of any purpose into the store. For stores that are given {@link PEOPLE_TEST_COMMANDS}. */
export const plantLink = command(
  'test-plant-link',
  async (
    tx,
    input: { purpose: LinkPurpose; hash: Uint8Array; organization: number | null; user: number | null; email: string },
    stamp,
  ): Promise<number> =>
    insertLink(tx, { ...input, role: 'admin', mailed: true, expiresAt: stamp.now + 14 * DAY }, stamp),
);

/** A person who signs in; `password` is what is stored. */
export const plantPerson = command(
  'test-plant-person',
  async (tx, input: { email: string; password: string | null; proven: boolean }, stamp): Promise<number> => {
    const user = await insertPendingUser(tx, { email: input.email, key: input.email, displayName: null }, stamp);
    const proven = input.proven ? stamp.now : null;
    await tx.run('UPDATE user SET password = ?, address_verified_at = ? WHERE id = ?', input.password, proven, user);
    return user;
  },
);

/** The owner of an address has shown that its mail is theirs. */
export const proveOwner = command('test-prove-owner', async (tx, email: string, stamp): Promise<void> => {
  await tx.run('UPDATE user SET address_verified_at = ? WHERE email_key = ?', stamp.now, email);
});

export const PEOPLE_TEST_COMMANDS = [plantLink, plantPerson];

export interface PersonRow {
  id: number;
  password: string | null;
  proven: boolean;
  organizations: string;
}

/** Everybody who names an address, with where they belong, in the order in which they came. */
export const people = query('test-people', async (rx, input: { key: string }): Promise<PersonRow[]> => {
  const rows = await rx.all<{ id: number; password: string | null; address_verified_at: number | null; list: string }>(
    `SELECT u.id, u.password, u.address_verified_at,
       (SELECT coalesce(group_concat(organization_id || ' ' || role, ', '), '') FROM member WHERE user_id = u.id) AS list
     FROM user u WHERE u.email_key = ? ORDER BY u.id`,
    input.key,
  );
  return rows.map(({ id, password, address_verified_at: at, list }) => ({
    id,
    password,
    proven: at !== null,
    organizations: list,
  }));
});

export const claimedAt = query('test-claimed-at', async (rx, input: { id: number }): Promise<number | null> => {
  const row = await rx.get<{ claimed_at: number | null }>('SELECT claimed_at FROM organization WHERE id = ?', input.id);
  return row?.claimed_at ?? null;
});

export interface Unclaimed {
  id: number;
  user: number;
  returned: ReturnType<typeof newSecret>;
  mailed: ReturnType<typeof newSecret>;
}

/** An organization that an agent made for the owner of an address. */
export async function unclaimed(store: MailStore, email: string, name = 'Acme'): Promise<Unclaimed> {
  const [returned, mailed] = [newSecret(), newSecret()];
  const subject = `${accountKeyOf(email)}${mailed.secret}`;
  const made: BootstrapResult = await store.write(bootstrapOrganization, {
    organization: { name, origin: 'claim', ip: '192.0.2.1' },
    network: null,
    owner: {
      email,
      key: email,
      displayName: null,
      subject,
      base: subject,
      returned: returned.hash,
      mailed: mailed.hash,
      notice: letterTo(email),
    },
    token: null,
    entry: { actor: 'anonymous', actorName: '', way: 'rest', ip: '192.0.2.1', operation: 'test', detail: {} },
    requestedIn: null,
  });
  if (made.kind !== 'made' || made.user === null) throw new Error(`not made: ${made.kind}`);
  return { id: made.organization.id, user: made.user, returned, mailed };
}

export function claimWith(store: MailStore, hash: Uint8Array, by: ClaimedBy) {
  return store.write(claimOrganization, { hash, by, way: 'portal', ip: '192.0.2.9' });
}

export const newPassword = (password: string): ClaimedBy => ({ kind: 'new', password, owner: null });

/** A letter that only has to be there. */
export function letterTo<Kind extends NoticeKind = 'claim'>(to: string, kind = 'claim' as Kind): SystemNotice<Kind> {
  const mail = outgoing('Subject: a link\r\n\r\nhello\r\n', [to], {
    trace: deliveryTrace('mailstead@box.test', to),
    tenant: 0,
    sender: 'mailstead@box.test',
    signAs: ['box.test'],
    hold: 'test',
  });
  return { ...mail, kind };
}
