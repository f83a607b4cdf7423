import type { Outgoing, Submission } from '../../mail/delivery/submit.ts';
import { ALLOW } from '../../mail/delivery/policy.ts';
import { indexMessage } from '../../mail/message/indexer.ts';

/** A message as the door hands it over: of nobody in the operator's organization, to people elsewhere. */
export function outgoing(
  text: string | Uint8Array,
  to: readonly string[],
  over: Partial<Outgoing> & Pick<Outgoing, 'trace'>,
): Outgoing {
  const data = Uint8Array.from(Buffer.from(text));
  return {
    account: null,
    tenant: 1,
    sender: 'me@box.test',
    smtputf8: false,
    eightBit: false,
    ret: '',
    envid: '',
    signAs: [],
    here: [],
    elsewhere: to.map((one) => ({ recipient: one, domain: one.slice(one.indexOf('@') + 1), notify: '', orcpt: '' })),
    hold: null,
    data,
    file: null,
    index: indexMessage(data),
    ...over,
  };
}

/** What an account or a program asks to send, with no limit and nobody who would hold it; its envelope sender must be its own. */
export function freely(mail: Outgoing): Submission {
  const rest = { allowance: null, budgets: [], guard: null, verdict: ALLOW, sendAt: null, spares: false };
  const { account, tenant } = mail;
  const as =
    account === null ? ({ kind: 'tenant', tenant, domains: null } as const) : ({ kind: 'account', account } as const);
  return { ...mail, authors: [], as, ...rest };
}
