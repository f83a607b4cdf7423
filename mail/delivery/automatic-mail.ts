import { type Address, formatAddress, needsUtf8 } from '../message/address.ts';
import { readFields } from '../message/header.ts';
import { indexMessage } from '../message/indexer.ts';
import type { Allowance } from '../store/allowance.ts';
import type { Budget } from '../store/budget.ts';
import type { MailStore } from '../store/store.ts';
import { destinations, type Unreachable } from './destinations.ts';
import { aboutMessage } from './agent/about-message.ts';
import type { Asked, Policy } from './policy.ts';
import type { Submission } from './submit.ts';

/** What such mail needs of the box. */
export interface AutomaticDesk {
  readonly store: MailStore;
  /** Our own name. */
  readonly hostname: string;
  /** ms UTC. */
  readonly clock: () => number;
  /** Of the box, for what is forwarded. */
  readonly forwardKey: Buffer;
  /** Why mail for elsewhere may not go out now; null lets it go. */
  readonly hold: string | null;
  /** For whom an account sends, and how much that may be. */
  senderOf(account: number): Promise<{ tenant: number; allowance: Allowance | null; budgets?: readonly Budget[] }>;
  readonly policy: Policy;
}

/** A message that a program writes in the name of an account. */
export interface Automatic {
  account: number;
  /** Who has it written, as the policy is told; left out: the box, as its owner set it. */
  by?: Pick<Asked, 'credential' | 'login'>;
  author: Address;
  to: readonly Address[];
  trace: string;
  bytes: Uint8Array;
  /** Not to those whom the tenant writes to no more. */
  spares: boolean;
}

/**
 * What the gate is asked for a notice that nobody may answer: it leaves under the null reverse-path, so that nothing
 * comes back. RFC 3834 3.3, RFC 8098 3.
 */
export async function automaticMail(
  desk: AutomaticDesk,
  { account, by = { credential: null }, author, to, trace, bytes, spares }: Automatic,
): Promise<{ mail: Submission; unreachable: Unreachable[] }> {
  const { store, hostname, clock, forwardKey: key, hold } = desk;
  const data = Uint8Array.from(bytes);
  const index = indexMessage(data, store.secretLinks);
  const fields = readFields(Buffer.from(data.buffer, 0, index.headerLength).toString('latin1'));
  const way = {
    sender: undefined,
    fields,
    key,
    now: clock(),
    hostname,
    authors: [author.domain],
    secretLink: index.secretLink,
  };
  const { unreachable, ...where } = await destinations(store, to, way);
  const { budgets = [], ...whose } = await desk.senderOf(account);
  const recipients = to.map(formatAddress);
  const verdict = await desk.policy({ ...whose, ...by, account, sender: '', recipients, size: index.size });
  const mail: Submission = {
    ...whose,
    ...where,
    trace,
    account,
    budgets,
    sender: '',
    smtputf8: [author, ...to].some(needsUtf8),
    eightBit: data.some((octet) => octet > 127),
    ret: '',
    envid: '',
    signAs: [author.domain],
    authors: [author],
    as: { kind: 'account', account },
    spares,
    guard: null,
    ...(await aboutMessage(store, verdict, {
      ...whose,
      account,
      index,
      data,
      file: null,
      recipients,
      now: clock(),
      door: 'automatic',
    })),
    sendAt: null,
    hold,
    data,
    file: null,
  };
  return { mail, unreachable };
}
