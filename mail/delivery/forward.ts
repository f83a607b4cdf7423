import { forwardTrace, guardForward } from '../forwarder/guard.ts';
import { rewriteSender } from '../forwarder/srs.ts';
import { type Address, addressKey, formatAddress, needsUtf8, parseAddress } from '../message/address.ts';
import type { Field } from '../message/header.ts';
import type { Store } from '../store/engine/types.ts';
import { type Forward, forwardsOf } from '../store/forwarder.ts';
import type { NewQueueRow } from '../store/queue.ts';
import { lookupKeys, routeOutward } from './route.ts';

/** One copy that goes on to an address elsewhere. */
export interface Onward {
  tenant: number;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  signAs: readonly string[];
  /** Header lines of this copy; one character an octet. */
  prefix: string;
  smtputf8: boolean;
  row: NewQueueRow;
}

export interface Plan {
  /** Accounts that get the message, with the address under which they do. */
  accounts: Map<number, Address>;
  onward: Onward[];
  /** Why something was not forwarded. */
  kept: string[];
}

export interface ForwardedMail {
  sender: Address | undefined;
  fields: readonly Field[];
  /** Of the box, for rewritten senders and markers. */
  key: Buffer;
  /** ms UTC. */
  now: number;
}

/** An address on the way: a recipient, or where a forward leads. */
interface Step {
  address: Address;
  by: Forward | undefined;
  /** The mailbox at the source, which keeps no copy. */
  fallback: number | undefined;
}

/** Longer chains are no one's meaning. */
const MOST_STEPS = 200;

/**
 * Follows the forwards of recipients, those inside the box to their end. An address is met once, so circles end. What may
 * not be forwarded goes to the mailbox, where there is one.
 */
export async function planForwards(store: Store, recipients: readonly Address[], mail: ForwardedMail): Promise<Plan> {
  const plan: Plan = { accounts: new Map(), onward: [], kept: [] };
  const open: Step[] = recipients.map((address) => ({ address, by: undefined, fallback: undefined }));
  const seen = new Set<string>();
  for (let step = open.shift(); step !== undefined && seen.size < MOST_STEPS; step = open.shift()) {
    const key = addressKey(step.address);
    if (seen.has(key)) continue;
    seen.add(key);
    open.push(...(await follow(store, step, mail, plan)));
  }
  return plan;
}

async function follow(store: Store, step: Step, mail: ForwardedMail, plan: Plan): Promise<Step[]> {
  const { address } = step;
  const where = await routeOutward(store, address);
  if (where.kind === 'elsewhere') {
    if (step.by !== undefined) plan.onward.push(onward(mail, step, step.by));
    return [];
  }
  const forwards = await store.read(forwardsOf, { keys: lookupKeys(address) });
  const account = where.kind === 'here' ? where.account : undefined;
  const guarded = guardForward({ ...mail, nullSender: mail.sender === undefined, source: forwards[0]?.source ?? '' });
  if (forwards.length > 0 && guarded.kind === 'keep') plan.kept.push(guarded.why);
  const going = guarded.kind === 'forward' ? forwards : [];
  const stays = going.length === 0 || going.some((one) => one.keepLocal);
  if (account !== undefined && stays) plan.accounts.set(account, address);
  return going.flatMap((by) => {
    const to = parseAddress(by.destination);
    return to === undefined ? [] : [{ address: to, by, fallback: stays ? undefined : account }];
  });
}

/** A report about something that was forwarded goes back to who wrote it. */
export function returned(to: Address): Onward {
  const row = { recipient: formatAddress(to), domain: to.domain, notify: 'NEVER', orcpt: '' };
  return { tenant: 0, sender: '', signAs: [], prefix: '', smtputf8: needsUtf8(to), row };
}

function onward({ sender, key, now }: ForwardedMail, { address, fallback }: Step, by: Forward): Onward {
  const domain = by.source.slice(by.source.lastIndexOf('@') + 1);
  const rewritten = sender && rewriteSender(sender, domain, key, now);
  const recipient = formatAddress(address);
  return {
    tenant: by.tenant,
    sender: rewritten === undefined ? '' : formatAddress(rewritten),
    signAs: [domain],
    prefix: forwardTrace(by.source, recipient, key),
    smtputf8: needsUtf8(address) || (rewritten !== undefined && needsUtf8(rewritten)),
    row: {
      recipient,
      domain: address.domain,
      // Nobody is told that a forward failed: who wrote may be anybody, and is not the one who set it.
      notify: 'NEVER',
      orcpt: '',
      ...(fallback !== undefined && { fallback }),
    },
  };
}
