import type { Settings } from '../../config/settings.ts';
import { OPERATOR, tenantOf } from '../../mail/store/account.ts';
import type { Allowance } from '../../mail/store/allowance.ts';
import { query, type Store } from '../../mail/store/engine/types.ts';
import { gateOf } from '../recovery/gate-queries.ts';

/** What an organization that nobody stands for may send: enough to try it, and no use to a spammer. */
const UNCLAIMED = {
  messages: 200,
  burst: 10,
  newRecipients: 50,
  until: 'This holds until the organization is claimed or has an active recovery key',
};

const ownerKeys = query('owner-keys', async (rx, input: { organization: number }): Promise<string[]> => {
  const rows = await rx.all<{ email_key: string }>(
    'SELECT u.email_key FROM member m JOIN user u ON u.id = m.user_id WHERE m.organization_id = ? AND m.role = ?',
    input.organization,
    'owner',
  );
  return rows.map((row) => row.email_key);
});

/** For whom an account sends, and how much that may be; null: no limit. */
export async function senderOf(
  store: Store,
  { live, unclaimedSending }: Pick<Settings, 'live' | 'unclaimedSending'>,
  account: number,
): Promise<{ tenant: number; allowance: Allowance | null }> {
  const tenant = (await store.read(tenantOf, { account })) ?? OPERATOR;
  if (!live || tenant === OPERATOR) return { tenant, allowance: null };
  const { open } = await store.read(gateOf, { organization: tenant });
  if (open) return { tenant, allowance: null };
  const only = unclaimedSending === 'owner' ? await store.read(ownerKeys, { organization: tenant }) : null;
  return { tenant, allowance: { ...UNCLAIMED, only } };
}
