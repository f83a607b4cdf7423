import type { OutgoingMessage } from '../../mail/delivery/types.ts';
import type { Submission } from '../../mail/delivery/submission.ts';
import { ALLOW } from '../../mail/agents/gate/sending-policy.ts';
import { indexMessage } from '../../mail/message/indexer.ts';

/** Outgoing message of the operator's organization without an account, to remote recipients. */
export function outgoing(
  text: string | Uint8Array,
  to: readonly string[],
  over: Partial<OutgoingMessage> & Pick<OutgoingMessage, 'trace'>,
): OutgoingMessage {
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

/** Submission without limits and holds; the envelope sender must be the submitter's own. */
export function unlimitedSubmission(mail: OutgoingMessage): Submission {
  const rest = { allowance: null, budgets: [], guard: null, verdict: ALLOW, sendAt: null, skipsSuppressed: false };
  const { account, tenant } = mail;
  const as =
    account === null ? ({ kind: 'tenant', tenant, domains: null } as const) : ({ kind: 'account', account } as const);
  return { ...mail, authors: [], as, ...rest };
}
