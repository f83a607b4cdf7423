import type { Settings } from '../../config/settings.ts';
import { OPERATOR } from '../../mail/store/account.ts';
import type { Budget } from '../../mail/store/budget.ts';
import type { Allowance } from '../../mail/store/allowance.ts';
import { query, type Store } from '../../mail/store/engine/types.ts';
import { gateOf } from '../recovery/gate-queries.ts';
import type { Tenants } from './tenants.ts';

/** What an organization that nobody stands for may send: enough to try it, and no use to a spammer. */
const UNCLAIMED = {
  messages: 200,
  burst: 10,
  newRecipients: 50,
  until: 'This holds until the organization is claimed or has an active recovery key',
};

/** The owners of an organization, as addresses are compared. */
export const ownersOf = query('owner-keys', async (rx, input: { organization: number }): Promise<string[]> => {
  const rows = await rx.all<{ email_key: string }>(
    'SELECT u.email_key FROM member m JOIN user u ON u.id = m.user_id WHERE m.organization_id = ? AND m.role = ?',
    input.organization,
    'owner',
  );
  return rows.map((row) => row.email_key);
});

type Limits = Pick<
  Settings,
  | 'live'
  | 'unclaimedSending'
  | 'mailboxDaily'
  | 'mailboxNewRecipients'
  | 'organizationDaily'
  | 'keyPerSecond'
  | 'pauseSenders'
>;

/** How many seconds of its rate a key may send at once. */
const BURST_SECONDS = 5;

/** For whom an account sends, and how much that may be; null and none: no limit. */
export async function senderOf(
  { store, tenants }: { store: Store; tenants: Tenants },
  settings: Limits,
  account: number,
): Promise<{ tenant: number; allowance: Allowance | null; budgets: Budget[] }> {
  const tenant = (await tenants.of(account)) ?? OPERATOR;
  const budgets = [...mailboxBudget(settings, account), ...organizationBudget(settings, tenant)];
  return { tenant, allowance: await allowanceOf(store, settings, tenant), budgets };
}

/** How much a program may send; `account` when it does so as a mailbox. */
export function programBudgets(
  settings: Limits,
  { organization, credential, account }: { organization: number; credential: string; account: number | null },
): Budget[] {
  return [
    ...rateBudget(settings, credential),
    ...(account === null ? keyWatch(settings, credential) : mailboxBudget(settings, account)),
    ...organizationBudget(settings, organization),
  ];
}

// Local mode sends nothing to the world; the operator sets these, and may set them to 0.
function rateBudget({ live, keyPerSecond }: Limits, subject: string): Budget[] {
  if (!live || keyPerSecond === 0) return [];
  const rate = { perSecond: keyPerSecond, burst: keyPerSecond * BURST_SECONDS };
  return [{ subject, rate, told: 'This is the pace of one key' }];
}

function mailboxBudget(settings: Limits, account: number): Budget[] {
  const { live, mailboxDaily: daily, mailboxNewRecipients: most, pauseSenders: watched } = settings;
  if (!live) return [];
  const told = 'This is what one mailbox may send; the operator of the box can allow more';
  return [
    {
      subject: `account/${account}`,
      told,
      watched,
      ...(daily > 0 && { daily }),
      ...(most > 0 && { newRecipients: { account, most } }),
    },
  ];
}

/** A key that sends as no mailbox; one that sends as a mailbox is watched as that. */
function keyWatch({ live, pauseSenders }: Limits, subject: string): Budget[] {
  return live && pauseSenders ? [{ subject, told: '', watched: true }] : [];
}

function organizationBudget({ live, organizationDaily: daily }: Limits, tenant: number): Budget[] {
  if (!live || daily === 0) return [];
  const told = 'This is what one organization may send; the operator of the box can allow more';
  return [{ subject: `tenant/${tenant}`, told, daily }];
}

/** What an organization may send; null: no limit. */
export async function allowanceOf(
  store: Store,
  { live, unclaimedSending }: Pick<Settings, 'live' | 'unclaimedSending'>,
  organization: number,
): Promise<Allowance | null> {
  if (!live || organization === OPERATOR) return null;
  const { open } = await store.read(gateOf, { organization });
  if (open) return null;
  const only = unclaimedSending === 'owner' ? await store.read(ownersOf, { organization }) : null;
  return { ...UNCLAIMED, only };
}
