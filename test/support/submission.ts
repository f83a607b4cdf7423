import type { Outgoing, Submission } from '../../mail/delivery/submit.ts';
import { ALLOW } from '../../mail/delivery/policy.ts';

/** What an account or a program asks to send, with no limit and nobody who would hold it; its envelope sender must be its own. */
export function freely(mail: Outgoing): Submission {
  const rest = { allowance: null, budgets: [], guard: null, verdict: ALLOW, sendAt: null, spares: false };
  const { account, tenant } = mail;
  const as =
    account === null ? ({ kind: 'tenant', tenant, domains: null } as const) : ({ kind: 'account', account } as const);
  return { ...mail, authors: [], as, ...rest };
}
