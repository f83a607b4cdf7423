import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outgoing } from '../../../mail/delivery/submit.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { auditLetters, catalogueLetters } from '../../../src/agents/owner-letters.ts';
import { approvalLetters } from '../../../src/approvals/letter.ts';
import { tripLetters } from '../../../src/canaries/letter.ts';
import { digestDue } from '../../../src/digest/due-queries.ts';
import { answeringOwner } from '../../../src/digest/owner-queries.ts';
import { rowId } from '../../../src/ids.ts';
import { letterOwners } from '../../../src/letters/owners.ts';
import { insertMember, insertPendingUser } from '../../../src/people/commands.ts';
import { pauseLetters } from '../../../src/sending/pause-letter.ts';
import { newsOf } from '../../../src/webhooks/news.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

/** Of whom nobody knows whether it is whoever owns the organization. */
const STRANGER = 'mistyped@alpha-home.test';

const plantOwner = command('test-plant-owner', async (tx, organization: number, stamp): Promise<number> => {
  const user = await insertPendingUser(tx, { email: STRANGER, key: STRANGER, displayName: null }, stamp);
  await tx.run(`UPDATE user SET password = '$argon2id$' WHERE id = ?`, user);
  await insertMember(tx, { organization, user, role: 'owner' }, stamp);
  await tx.run('UPDATE organization SET claimed_at = ? WHERE id = ?', stamp.now, organization);
  return user;
});
const setProven = command(
  'test-set-proven',
  async (tx, { organization, proven }: { organization: number; proven: boolean }, stamp): Promise<void> => {
    await tx.run(
      `UPDATE user SET address_proven_at = ? WHERE email <> ?
         AND id IN (SELECT user_id FROM member WHERE organization_id = ?)`,
      proven ? stamp.now : null,
      STRANGER,
      organization,
    );
  },
);

let tenants: Tenants;
let organization: number;
let stranger: number;
beforeAll(async () => {
  tenants = await twoTenants({}, [plantOwner, setProven]);
  organization = rowId('organization', tenants.a.main.organizationId) ?? 0;
  stranger = await tenants.world.store.write(plantOwner, organization);
});
afterAll(() => tenants[Symbol.asyncDispose]());

/** Every letter that tells owners something; the daily one is made for whom `letterOwners` names. */
const LETTERS: Record<string, () => Promise<Outgoing[]>> = {
  'that mail and proposals wait': () => approvalLetters(tenants.world, organization),
  'that somebody went to a canary': () => tripLetters(tenants.world, organization, []),
  'that the tools are others': () =>
    catalogueLetters(tenants.world, organization, {
      change: { added: ['a'], removed: [], changed: [] },
      sha256: '',
    }),
  'how the audit log ended': () =>
    auditLetters(tenants.world, { organization, name: '', audit: 1, hash: new Uint8Array(32), acts: 1 }),
  'that a sender is paused': () =>
    pauseLetters(tenants.world, {
      sender: tenants.a.main.mailboxId,
      tenant: organization,
      account: rowId('mailbox', tenants.a.main.mailboxId) ?? 0,
      pausedAt: 0,
      why: '',
      figures: {},
    }),
  'that a webhook fails': async () => {
    const target = { organization, account: null, toldDeadAt: null, failingSince: null, url: 'https://x.example/' };
    const told = { target, end: { kind: 'dead' } } as Parameters<typeof newsOf>[1];
    return (await newsOf(tenants.world, told)).flatMap(({ letters }) => letters);
  },
};

const recipientsOf = (letters: readonly Outgoing[]): string[] =>
  letters.flatMap(({ elsewhere }) => elsewhere.map(({ recipient }) => recipient));

describe('an owner whose address was never proved', () => {
  test.each(Object.entries(LETTERS))('is not told %s, and who proved theirs is', async (_what, letters) => {
    expect(recipientsOf(await letters())).toEqual(['owner@alpha-home.test']);
  });

  test.each([true, false])(
    'is none of those whom the daily letter, and that of its STOP, is for: %s',
    async (daily) => {
      const owners = await tenants.world.store.read(letterOwners, { organization, daily });
      expect(owners.map(({ email }) => email)).toEqual(['owner@alpha-home.test']);
    },
  );

  test('stops nothing by an answer', async () => {
    const { store } = tenants.world;
    const [{ user } = { user: 0 }] = await store.read(letterOwners, { organization, daily: true });
    expect(await store.read(answeringOwner, { organization, user: stranger })).toBeUndefined();
    expect(await store.read(answeringOwner, { organization, user })).toMatchObject({ email: 'owner@alpha-home.test' });
  });

  test('makes no daily letter due where no other owner is', async () => {
    const { store, clock } = tenants.world;
    const due = () => store.scan(digestDue, { day: 1, now: clock(), after: 0, limit: 9 });
    expect(await due()).toEqual([organization]);
    await store.write(setProven, { organization, proven: false });
    expect(await due()).toEqual([]);
    await store.write(setProven, { organization, proven: true });
  });
});
