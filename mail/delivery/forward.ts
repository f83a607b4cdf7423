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
  /** The address whose forward it is; none for a report that finds its way back. */
  source?: string;
}

export interface Plan {
  /** Accounts that get the message, with the address under which they do. */
  accounts: Map<number, Address>;
  onward: Onward[];
  /** Recipients that would reach nobody: a message with one of these must not be accepted. */
  lost: Address[];
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

/** An address on the way of a recipient: itself, or where a forward leads. */
interface Step {
  recipient: Address;
  address: Address;
  by: Forward | undefined;
  /** The last mailbox on the way, when it keeps no copy. */
  fallback: number | undefined;
}

/** More forwards of one message are no one's meaning. */
const MOST_FORWARDS = 200;

/**
 * Follows the forwards of recipients, those inside the box to their end. What may not be forwarded, or leads nowhere, goes
 * to the mailbox it came from, where there is one.
 */
export async function planForwards(store: Store, recipients: readonly Address[], mail: ForwardedMail): Promise<Plan> {
  const way = new Way();
  const open: Step[] = recipients.map((address) => ({
    recipient: address,
    address,
    by: undefined,
    fallback: undefined,
  }));
  let forwards = 0;
  for (let step = open.shift(); step !== undefined; step = open.shift()) {
    if (!way.isNew(step)) continue;
    const tooMany = step.by !== undefined && ++forwards > MOST_FORWARDS;
    const { arrived, on } = tooMany ? NOWHERE : await follow(store, step, mail, way.plan);
    if (arrived) way.reach(step.recipient);
    else if (on.length === 0) way.fallBack(step);
    open.push(...on);
  }
  return way.end(recipients);
}

/** Where the message has been on the way to everybody. An address is met once, so circles end. */
class Way {
  readonly plan: Plan = { accounts: new Map(), onward: [], lost: [], kept: [] };
  readonly #met = new Map<string, Address>();
  readonly #reached = new Set<Address>();
  /** Recipients that share the rest of the way with another one. */
  readonly #joined: (readonly [recipient: Address, other: Address])[] = [];

  isNew(step: Step): boolean {
    const key = addressKey(step.address);
    const other = this.#met.get(key);
    if (other === undefined) {
      this.#met.set(key, step.recipient);
      return true;
    }
    // In a circle of its own nobody else sees to it.
    if (other === step.recipient) this.fallBack(step);
    else this.#joined.push([step.recipient, other]);
    return false;
  }

  reach(recipient: Address): void {
    this.#reached.add(recipient);
  }

  fallBack({ recipient, fallback }: Step): void {
    if (fallback === undefined) return;
    if (!this.plan.accounts.has(fallback)) this.plan.accounts.set(fallback, recipient);
    this.reach(recipient);
  }

  end(recipients: readonly Address[]): Plan {
    for (let before = -1; before !== this.#reached.size;) {
      before = this.#reached.size;
      for (const [recipient, other] of this.#joined) if (this.#reached.has(other)) this.reach(recipient);
    }
    this.plan.lost.push(...recipients.filter((one) => !this.#reached.has(one)));
    return this.plan;
  }
}

interface Followed {
  /** Somebody gets the message here, or it is on its way out. */
  arrived: boolean;
  on: Step[];
}

const NOWHERE: Followed = { arrived: false, on: [] };

async function follow(store: Store, step: Step, mail: ForwardedMail, plan: Plan): Promise<Followed> {
  const { recipient, address, by } = step;
  const where = await routeOutward(store, address);
  if (where.kind === 'elsewhere') {
    if (by === undefined) return NOWHERE;
    plan.onward.push(onward(mail, step, by));
    return { arrived: true, on: [] };
  }
  const forwards = await store.read(forwardsOf, { keys: lookupKeys(address) });
  // Also a full one: it was accepted, or is at the end of a way that nobody else is at.
  const account = where.kind === 'here' || where.kind === 'full' ? where.account : undefined;
  const guarded = guardForward({ ...mail, nullSender: mail.sender === undefined, source: forwards[0]?.source ?? '' });
  if (forwards.length > 0 && guarded.kind === 'keep') plan.kept.push(guarded.why);
  const going = guarded.kind === 'forward' ? forwards : [];
  const stays = account !== undefined && (going.length === 0 || going.some((one) => one.keepLocal));
  if (stays && !plan.accounts.has(account)) plan.accounts.set(account, address);
  const on = going.flatMap((one): Step[] => {
    const to = parseAddress(one.destination);
    return to === undefined
      ? []
      : [{ recipient, address: to, by: one, fallback: stays ? undefined : (account ?? step.fallback) }];
  });
  return { arrived: stays, on };
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
    source: by.source,
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
