import type { Settings } from '../../config/settings.ts';
import { OPERATOR } from '../../mail/store/account/account.ts';
import type { Budget } from '../../mail/store/limit/budget.ts';
import type { Allowance } from '../../mail/store/limit/allowance.ts';
import { lookup, type Store } from '../../mail/store/engine/types.ts';
import { deployGateOf } from '../recovery/gate-queries.ts';
import type { AccountTenants } from './account-tenants.ts';

/** Sending allowance of an unclaimed organization: enough for a trial, too little for a spammer. */
const UNCLAIMED_ALLOWANCE = {
  messages: 200,
  burst: 10,
  newRecipients: 50,
  until: 'This limit applies until the organization is claimed or has an active recovery key',
};

/** Lists the owners of an organization as address keys. */
export const ownerAddressKeys = lookup('owner-keys', async (rx, input: { organization: number }): Promise<string[]> => {
  const rows = await rx.all<{ email_key: string }>(
    'SELECT u.email_key FROM member m JOIN user u ON u.id = m.user_id WHERE m.organization_id = ? AND m.role = ?',
    input.organization,
    'owner',
  );
  return rows.map((row) => row.email_key);
});

type SendingLimits = Pick<
  Settings,
  | 'live'
  | 'unclaimedSending'
  | 'mailboxDaily'
  | 'mailboxNewRecipients'
  | 'organizationDaily'
  | 'keyPerSecond'
  | 'pauseSenders'
>;

/** Burst of a key, in seconds of its rate. */
const BURST_SECONDS = 5;

/** Returns the tenant of an account and its sending limits; null and empty: no limit. */
export async function submitterLimits(
  { store, tenants }: { store: Store; tenants: AccountTenants },
  settings: SendingLimits,
  account: number,
): Promise<{ tenant: number; allowance: Allowance | null; budgets: Budget[] }> {
  const tenant = (await tenants.of(account)) ?? OPERATOR;
  const budgets = [...mailboxBudget(settings, account), ...organizationBudget(settings, tenant)];
  return { tenant, allowance: await allowanceOf(store, settings, tenant), budgets };
}

/** Lists the budgets of a program; `account` is set if it sends as a mailbox. */
export function programBudgets(
  settings: SendingLimits,
  { organization, credential, account }: { organization: number; credential: string; account: number | null },
): Budget[] {
  return [
    ...rateBudget(settings, credential),
    ...(account === null ? keyWatchBudget(settings, credential) : mailboxBudget(settings, account)),
    ...organizationBudget(settings, organization),
  ];
}

// No limits in local mode, which delivers nothing to remote servers. 0 disables a limit.
function rateBudget({ live, keyPerSecond }: SendingLimits, subject: string): Budget[] {
  if (!live || keyPerSecond === 0) return [];
  const rate = { perSecond: keyPerSecond, burst: keyPerSecond * BURST_SECONDS };
  return [{ subject, rate, explanation: 'This is the rate limit of one key' }];
}

function mailboxBudget(settings: SendingLimits, account: number): Budget[] {
  const { live, mailboxDaily: daily, mailboxNewRecipients: most, pauseSenders: watched } = settings;
  if (!live) return [];
  const reason = 'This is the limit of one mailbox; the operator of the box can raise it';
  return [
    {
      subject: `account/${account}`,
      explanation: reason,
      watched,
      ...(daily > 0 && { daily }),
      ...(most > 0 && { newRecipients: { account, most } }),
    },
  ];
}

/** Watches a key that sends without a mailbox for abuse; one that sends as a mailbox is watched as that. */
function keyWatchBudget({ live, pauseSenders }: SendingLimits, subject: string): Budget[] {
  return live && pauseSenders ? [{ subject, explanation: '', watched: true }] : [];
}

function organizationBudget({ live, organizationDaily: daily }: SendingLimits, tenant: number): Budget[] {
  if (!live || daily === 0) return [];
  const reason = 'This is the limit of one organization; the operator of the box can raise it';
  return [{ subject: `tenant/${tenant}`, explanation: reason, daily }];
}

/** Returns the sending allowance of an organization; null: no limit. */
export async function allowanceOf(
  store: Store,
  { live, unclaimedSending }: Pick<Settings, 'live' | 'unclaimedSending'>,
  organization: number,
): Promise<Allowance | null> {
  if (!live || organization === OPERATOR) return null;
  const { open } = await store.read(deployGateOf, { organization });
  if (open) return null;
  const only = unclaimedSending === 'owner' ? await store.read(ownerAddressKeys, { organization }) : null;
  return { ...UNCLAIMED_ALLOWANCE, only };
}
