import type { OutgoingMessage } from '../../../mail/delivery/types.ts';
import { rowId } from '../../../src/core/ids.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { command } from '../../../mail/store/engine/types.ts';
import { composeAuditHead, composeToolsChanged } from '../../../src/agents/owner-notices.ts';
import { composeApprovalRequest } from '../../../src/approvals/notice.ts';
import { composeCanaryAlert } from '../../../src/canaries/notice-source.ts';
import { digestDue, replyingOwner } from '../../../src/digest/queries.ts';
import { notifiedOwners } from '../../../src/notices/owners.ts';
import { insertMember, insertPendingUser } from '../../../src/people/commands.ts';
import { composePausedSender } from '../../../src/sending/pause-notice-source.ts';
import { disabledWebhookNotices, failingWebhookNotices } from '../../../src/webhooks/notice-sources.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

/** An owner with an unverified address. */
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
      `UPDATE user SET address_verified_at = ? WHERE email <> ?
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

const failing = () => ({ listener: 1, organization, account: null, address: '', url: 'https://x.example/' });

/** Every notice to owners; the daily digest uses `notifiedOwners`. */
const LETTERS: Record<string, () => Promise<OutgoingMessage[]>> = {
  'that mail and proposals wait': () => composeApprovalRequest(tenants.world, organization),
  'that somebody went to a canary': () => composeCanaryAlert(tenants.world, organization, []),
  'that the tools are others': () =>
    composeToolsChanged(tenants.world, organization, {
      change: { added: ['a'], removed: [], changed: [] },
      sha256: '',
    }),
  'how the audit log ended': () =>
    composeAuditHead(tenants.world, { organization, name: '', audit: 1, hash: new Uint8Array(32), acts: 1 }),
  'that a sender is paused': () =>
    composePausedSender(tenants.world, {
      sender: tenants.a.main.mailboxId,
      tenant: organization,
      account: rowId('mailbox', tenants.a.main.mailboxId) ?? 0,
      pausedAt: 0,
      why: '',
      figures: {},
    }),
  'that a webhook fails': async () =>
    (await failingWebhookNotices(tenants.world).compose(failing()))?.notices.slice() ?? [],
  'that a webhook is disabled': async () =>
    (await disabledWebhookNotices(tenants.world).compose(failing()))?.notices.slice() ?? [],
};

const recipientsOf = (letters: readonly OutgoingMessage[]): string[] =>
  letters.flatMap(({ elsewhere }) => elsewhere.map(({ recipient }) => recipient));

describe('an owner whose address was never proved', () => {
  test.each(Object.entries(LETTERS))('is not told %s, and who proved theirs is', async (_what, letters) => {
    expect(recipientsOf(await letters())).toEqual(['owner@alpha-home.test']);
  });

  test.each([true, false])(
    'is none of those whom the daily digest, and that of its STOP, is for: %s',
    async (daily) => {
      const owners = await tenants.world.store.read(notifiedOwners, { organization, daily });
      expect(owners.map(({ email }) => email)).toEqual(['owner@alpha-home.test']);
    },
  );

  test('stops nothing by an answer', async () => {
    const { store } = tenants.world;
    const [{ user } = { user: 0 }] = await store.read(notifiedOwners, { organization, daily: true });
    expect(await store.read(replyingOwner, { organization, user: stranger })).toBeUndefined();
    expect(await store.read(replyingOwner, { organization, user })).toMatchObject({ email: 'owner@alpha-home.test' });
  });

  test('makes no daily digest due where no other owner is', async () => {
    const { store, clock } = tenants.world;
    const due = () => store.scan(digestDue, { day: 1, now: clock(), after: 0, limit: 9 });
    expect(await due()).toEqual([organization]);
    await store.write(setProven, { organization, proven: false });
    expect(await due()).toEqual([]);
    await store.write(setProven, { organization, proven: true });
  });
});
