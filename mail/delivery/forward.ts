import { type Authentication, type ChainStatus, resultsText } from '../auth/authentication.ts';
import { forwardTrace, guardForward } from '../forwarder/guard.ts';
import { mayLeave } from '../forwarder/leave.ts';
import { rewriteSender } from '../forwarder/srs.ts';
import { type Address, addressKey, formatAddress, needsUtf8, parseAddress } from '../message/address.ts';
import type { Field } from '../message/header.ts';
import type { Store } from '../store/engine/types.ts';
import { type Forward, forwardsOf } from '../store/forwarder.ts';
import type { NewQueueRow } from '../store/queue.ts';
import type { Delivery } from './deliver.ts';
import { deliveryTo, oneEach } from './deliveries.ts';
import { lookupKeys, type Route, routeOutward } from './route.ts';

/** One copy that goes on to an address elsewhere. */
export interface Onward {
  tenant: number;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
  /** Null: nobody. */
  signAs: readonly string[] | null;
  /** Header lines of this copy; one character an octet. */
  prefix: string;
  /** The forward's source, as it is looked up: what is counted. '' for what is no forward. */
  source?: string;
  /** By which it came here: they count it, and may take no more. */
  aliases?: readonly number[];
  /** An ARC seal with this status goes on it; '' for none. */
  arc?: ChainStatus | '';
  smtputf8: boolean;
  row: NewQueueRow;
}

export interface Plan {
  /** What accounts get: one copy each. */
  here: Delivery[];
  onward: Onward[];
  /** Recipients that would reach nobody: a message with one of these must not be accepted. */
  lost: Address[];
  /** What was not forwarded, and why. */
  kept: Kept[];
}

/** A recipient's mail that does not go on as it was meant to. */
export interface Kept {
  recipient: Address;
  /** Whose forward it is. */
  tenant: number;
  /** The forward's source, as it is looked up. */
  source: string;
  /** The first three stand for ever, the others may be over later. */
  kind: 'automatic' | 'loop' | 'unproven' | 'trouble' | 'spent' | 'pending' | 'stopped';
  why: string;
}

export interface ForwardedMail {
  sender: Address | undefined;
  fields: readonly Field[];
  /** Of the box, for rewritten senders and markers. */
  key: Buffer;
  /** ms UTC. */
  now: number;
  /** What is known of its author, and whose word that is; without it the author is one of ours and was checked. */
  proof?: { authserv: string; authentication: Authentication };
  /** Domains of authors that were checked: their keys sign too. */
  authors?: readonly string[];
  /** Of recipients, the accounts that take it: others have no room, or block who sends it. Left out: all. */
  takers?: ReadonlyMap<Address, readonly number[]>;
}

/** An address on the way of a recipient: itself, or where a forward leads. */
interface Step {
  recipient: Address;
  address: Address;
  by: Forward | undefined;
  /** The last mailbox on the way, when it keeps no copy. */
  fallback: number | undefined;
  /** On the way. */
  aliases: readonly number[];
}

/** More forwards of one message are no one's meaning. */
const MOST_FORWARDS = 200;

/**
 * Follows the forwards of recipients, those inside the box to their end. What may not be forwarded, or leads nowhere, goes
 * to the mailbox it came from, where there is one.
 */
export async function planForwards(store: Store, recipients: readonly Address[], mail: ForwardedMail): Promise<Plan> {
  const way = new Way(mail.sender);
  const open: Step[] = recipients.map((address) => ({
    recipient: address,
    address,
    by: undefined,
    fallback: undefined,
    aliases: [],
  }));
  let forwards = 0;
  for (let step = open.shift(); step !== undefined; step = open.shift()) {
    if (!way.isNew(step)) continue;
    const tooMany = step.by !== undefined && ++forwards > MOST_FORWARDS;
    const { arrived, on } = tooMany ? NOWHERE : await follow(store, step, mail, way);
    if (arrived) way.reach(step.recipient);
    else if (on.length === 0) way.fallBack(step);
    open.push(...on);
  }
  return way.end(recipients);
}

/** Where the message has been on the way to everybody. An address is met once for each fallback, so circles end. */
class Way {
  readonly plan: Plan = { here: [], onward: [], lost: [], kept: [] };
  readonly #sender: Address | undefined;
  readonly #met = new Map<string, Address>();
  readonly #reached = new Set<Address>();
  /** Those that share the rest of the way with another recipient. */
  readonly #joined: (readonly [step: Step, other: Address])[] = [];

  constructor(sender: Address | undefined) {
    this.#sender = sender;
  }

  isNew(step: Step): boolean {
    // Each mailbox that keeps no copy has a way out of its own: when that fails, it gets the message back.
    const key = `${addressKey(step.address)} ${step.fallback ?? ''}`;
    const other = this.#met.get(key);
    if (other === undefined) {
      this.#met.set(key, step.recipient);
      return true;
    }
    // In a circle of its own nobody else sees to it.
    if (other === step.recipient) this.fallBack(step);
    else this.#joined.push([step, other]);
    return false;
  }

  keep(account: number, address: Address, aliases: readonly number[]): void {
    this.plan.here.push(deliveryTo(account, address, this.#sender, aliases));
  }

  reach(recipient: Address): void {
    this.#reached.add(recipient);
  }

  fallBack({ recipient, fallback, aliases }: Step): void {
    if (fallback === undefined) return;
    this.keep(fallback, recipient, aliases);
    this.reach(recipient);
  }

  end(recipients: readonly Address[]): Plan {
    this.#follow();
    for (const [step] of this.#joined) if (!this.#reached.has(step.recipient)) this.fallBack(step);
    this.#follow();
    const lost = recipients.filter((one) => !this.#reached.has(one));
    return { ...this.plan, here: oneEach(this.plan.here), lost };
  }

  #follow(): void {
    for (let before = -1; before !== this.#reached.size;) {
      before = this.#reached.size;
      for (const [{ recipient }, other] of this.#joined) if (this.#reached.has(other)) this.reach(recipient);
    }
  }
}

interface Followed {
  /** Somebody gets the message here, or it is on its way out. */
  arrived: boolean;
  on: Step[];
}

const NOWHERE: Followed = { arrived: false, on: [] };

async function follow(store: Store, step: Step, mail: ForwardedMail, way: Way): Promise<Followed> {
  const { recipient, address, by } = step;
  const where = await routeOutward(store, address, { now: mail.now });
  if (where.kind === 'elsewhere') return by === undefined ? NOWHERE : leave(step, by, mail, way.plan);
  if (where.kind === 'over') return NOWHERE;
  const { accounts, aliases } = takenBy(step, where, mail);
  const { going, kept } = choose(await forwardsFrom(store, address, where, mail), mail);
  way.plan.kept.push(...kept.map((one) => ({ ...one, recipient })));
  // One that waits is no reason to lose what it would have passed on.
  const waits = kept.some(({ kind }) => kind === 'pending' || kind === 'stopped');
  const stays = accounts.length > 0 && (going.length === 0 || waits || going.some((one) => one.keepLocal));
  if (stays) for (const account of accounts) way.keep(account, address, aliases);
  const fallback = stays ? undefined : (accounts[0] ?? step.fallback);
  const on = going.flatMap((one): Step[] => {
    const to = parseAddress(one.destination);
    return to === undefined ? [] : [{ recipient, address: to, by: one, fallback, aliases }];
  });
  return { arrived: stays, on };
}

/** Who takes it here, and by which aliases. Also full ones: it was accepted, or is at the end of a way that nobody else is at. */
function takenBy(
  { recipient, by, aliases }: Step,
  where: Route,
  { takers }: ForwardedMail,
): Pick<Step, 'aliases'> & { accounts: readonly number[] } {
  if (where.kind !== 'here' && where.kind !== 'full') return { accounts: [], aliases };
  const named = by === undefined ? takers?.get(recipient) : undefined;
  const accounts = where.accounts.filter((one) => named?.includes(one) ?? true);
  return { accounts, aliases: [...aliases, ...(where.aliases ?? [])] };
}

/** An alias for one +detail has nothing to do with the forwards of the address without it. */
async function forwardsFrom(store: Store, address: Address, where: Route, { now }: ForwardedMail): Promise<Forward[]> {
  if (where.kind === 'here' && !where.forwards) return [];
  return store.read(forwardsOf, { keys: lookupKeys(address), now });
}

/** Which forwards of an address pass a message on, and why the others do not. */
function choose(
  forwards: readonly Forward[],
  mail: ForwardedMail,
): { going: Forward[]; kept: Omit<Kept, 'recipient'>[] } {
  const [first] = forwards;
  if (first === undefined) return { going: [], kept: [] };
  const { source, tenant } = first;
  const guarded = guardForward({ ...mail, nullSender: mail.sender === undefined, source });
  if (guarded.kind !== 'forward') return { going: [], kept: [{ tenant, source, ...guarded }] };
  const why = 'its forwards for today are used up';
  if (first.spent) return { going: [], kept: [{ tenant, source, kind: 'spent', why }] };
  const kept = forwards.flatMap(({ state }) =>
    state === 'active' ? [] : [{ tenant, source, kind: state, why: WAITS[state] }],
  );
  return { going: forwards.filter(({ state }) => state === 'active'), kept };
}

const WAITS = {
  pending: 'its destination has not confirmed the forward yet',
  stopped: 'the organization that set the forward is stopped',
} as const;

/** The copy for an address elsewhere, unless what is known of the author keeps it here. */
function leave(step: Step, by: Forward, mail: ForwardedMail, plan: Plan): Followed {
  const domain = by.source.slice(by.source.lastIndexOf('@') + 1);
  const staying = mail.proof && mayLeave(mail.proof.authentication, domain);
  if (staying !== undefined) {
    plan.kept.push({ recipient: step.recipient, tenant: by.tenant, source: by.source, ...staying });
    return NOWHERE;
  }
  plan.onward.push(onward(mail, step, by, domain));
  return { arrived: true, on: [] };
}

/** A report about something that was forwarded goes back to who wrote it. Strangers wrote it: no key here vouches for it. */
export function returned(to: Address): Onward {
  const row = { recipient: formatAddress(to), domain: to.domain, notify: 'NEVER', orcpt: '' };
  return { tenant: 0, sender: '', signAs: null, prefix: '', smtputf8: needsUtf8(to), row };
}

function onward(mail: ForwardedMail, { address, fallback, aliases }: Step, by: Forward, domain: string): Onward {
  const { sender, key, now, proof, authors = [] } = mail;
  const rewritten = sender && rewriteSender(sender, domain, key, now);
  const recipient = formatAddress(address);
  return {
    tenant: by.tenant,
    sender: rewritten === undefined ? '' : formatAddress(rewritten),
    signAs: [...new Set([...authors, domain])],
    prefix: (proof === undefined ? '' : resultsField(proof)) + forwardTrace(by.source, recipient, key),
    source: by.source,
    aliases,
    arc: sealOf(proof?.authentication.arc),
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

function resultsField({ authserv, authentication }: NonNullable<ForwardedMail['proof']>): string {
  return `Authentication-Results: ${resultsText(authserv, authentication)}\r\n`;
}

/** A chain of which nothing could be found out gets no seal: it would have to state something. */
function sealOf(arc: Authentication['arc'] | undefined): ChainStatus | '' {
  return arc === undefined || arc === 'temperror' ? '' : arc;
}
