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
  /** What each account on the way would have of it, whether or not it keeps a copy. */
  met: Delivery[];
  /** A copy leaves that no account had a say in. */
  bare: boolean;
}

/** Nothing is planned yet. */
export function noPlan(): Plan {
  return { here: [], onward: [], lost: [], kept: [], met: [], bare: false };
}

/** A recipient's mail that does not go on as it was meant to. */
export interface Kept {
  recipient: Address;
  /** Whose forward it is. */
  tenant: number;
  /** The forward's source, as it is looked up. */
  source: string;
  /** The first four stand for ever, the others may be over later. */
  kind: 'automatic' | 'loop' | 'unproven' | 'secret' | 'trouble' | 'spent' | 'pending' | 'stopped' | 'junk';
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
  /** It carries a link that acts for a person: no forward that a program set passes it on. */
  secretLink?: boolean | undefined;
  /** Accounts that have it in no inbox: for them it is junk, or worse. */
  staying?: ReadonlySet<number>;
  /** It is junk by what holds for everybody: copies that no account had a say in leave only for who would get it nowhere else. */
  junk?: boolean;
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
  /** An account on the way has judged it. */
  judged: boolean;
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
    judged: false,
  }));
  let forwards = 0;
  for (let step = open.shift(); step !== undefined; step = open.shift()) {
    if (!way.isNew(step)) continue;
    const tooMany = step.by !== undefined && ++forwards > MOST_FORWARDS;
    const { arrived, on } = tooMany ? NOWHERE : await follow(store, step, mail, way);
    way.goOn(step, on);
    if (arrived) way.reach(step);
    else if (on.length === 0) way.fallBack(step);
    open.push(...on);
  }
  return way.end(recipients);
}

/** Where the message has been on the way to everybody. An address is met once for each fallback, so circles end. */
class Way {
  readonly plan = noPlan();
  readonly #sender: Address | undefined;
  /** Who came first to a place. */
  readonly #met = new Map<string, Address>();
  /** From each place, those to which it goes on. */
  readonly #on = new Map<string, readonly string[]>();
  /** Places at which somebody gets it. */
  readonly #arrived = new Set<string>();
  /** What does not go on from a place. */
  readonly #stays = new Map<string, readonly Kept[]>();
  /** Those that share the rest of the way with another recipient. */
  readonly #joined: Step[] = [];
  /** Copies that leave only where a recipient is not reached without them. */
  readonly #reluctant: { step: Step; copy: Onward }[] = [];

  constructor(sender: Address | undefined) {
    this.#sender = sender;
  }

  isNew(step: Step): boolean {
    const place = placeOf(step);
    const other = this.#met.get(place);
    if (other === undefined) {
      this.#met.set(place, step.recipient);
      return true;
    }
    // In a circle of its own nobody else sees to it.
    if (other === step.recipient) this.fallBack(step);
    else this.#joined.push(step);
    return false;
  }

  keep(account: number, address: Address, aliases: readonly number[]): void {
    this.plan.here.push(deliveryTo(account, address, this.#sender, aliases));
  }

  meet(account: number, address: Address): void {
    this.plan.met.push(deliveryTo(account, address, this.#sender));
  }

  stay(step: Step, kept: readonly Omit<Kept, 'recipient'>[]): void {
    const { recipient } = step;
    const all = kept.map((one) => ({ ...one, recipient }));
    this.plan.kept.push(...all);
    this.#stays.set(placeOf(step), all);
  }

  hesitate(step: Step, copy: Onward): void {
    this.#reluctant.push({ step, copy });
  }

  goOn(step: Step, on: readonly Step[]): void {
    this.#on.set(placeOf(step), on.map(placeOf));
  }

  reach(step: Step): void {
    this.#arrived.add(placeOf(step));
  }

  fallBack(step: Step): void {
    const { recipient, fallback, aliases } = step;
    if (fallback === undefined) return;
    this.keep(fallback, recipient, aliases);
    this.reach(step);
  }

  end(recipients: readonly Address[]): Plan {
    // All who are not reached by then: in a circle of several one copy is not for everybody.
    for (const step of this.#joined.filter((one) => !this.#isReached(placeOf(one)))) this.fallBack(step);
    this.#letGo(this.#unreached(recipients));
    const lost = this.#unreached(recipients);
    const kept = [...this.plan.kept, ...lost.flatMap((address) => this.#sharedReasons(address))];
    return { ...this.plan, here: oneEach(this.plan.here), lost, kept };
  }

  /** Why a recipient is not reached where another was on the way first. */
  #sharedReasons(recipient: Address): Kept[] {
    const reasons = [...this.#ahead(placeOf({ address: recipient }))].flatMap((place) => this.#stays.get(place) ?? []);
    return reasons.filter((one) => one.recipient !== recipient).map((one) => ({ ...one, recipient }));
  }

  #letGo(unreached: readonly Address[]): void {
    const ahead = new Set(unreached.flatMap((address) => [...this.#ahead(placeOf({ address }))]));
    for (const { step, copy } of this.#reluctant) {
      const { recipient } = step;
      const { tenant, source = '' } = copy;
      if (ahead.has(placeOf(step))) {
        this.plan.onward.push(copy);
        this.reach(step);
      } else this.plan.kept.push({ recipient, tenant, source, kind: 'junk', why: JUNK });
    }
  }

  #unreached(recipients: readonly Address[]): Address[] {
    return recipients.filter((address) => !this.#isReached(placeOf({ address })));
  }

  #isReached(place: string): boolean {
    return [...this.#ahead(place)].some((one) => this.#arrived.has(one));
  }

  /** A place, and all to which the message may get from there. */
  #ahead(place: string): Set<string> {
    const ahead = new Set([place]);
    // What is added on the way is gone through as well.
    for (const one of ahead) for (const next of this.#on.get(one) ?? []) ahead.add(next);
    return ahead;
  }
}

/** Each mailbox that keeps no copy has a way out of its own: when that fails, it gets the message back. */
function placeOf({ address, fallback }: Pick<Step, 'address'> & Partial<Pick<Step, 'fallback'>>): string {
  return `${addressKey(address)} ${fallback ?? ''}`;
}

const JUNK = 'it looks like junk, so no copy leaves';

interface Followed {
  /** Somebody gets the message here, or it is on its way out. */
  arrived: boolean;
  on: Step[];
}

const NOWHERE: Followed = { arrived: false, on: [] };

async function follow(store: Store, step: Step, mail: ForwardedMail, way: Way): Promise<Followed> {
  const { recipient, address, by } = step;
  const where = await routeOutward(store, address, { now: mail.now });
  if (where.kind === 'elsewhere') return by === undefined ? NOWHERE : leave(step, by, mail, way);
  if (where.kind === 'over') return NOWHERE;
  const { accounts, aliases } = takenBy(step, where, mail);
  const taking = accounts.filter((one) => mail.staying?.has(one) !== true);
  const ends = isJunkFor(accounts, taking, mail);
  const { going, kept } = choose(ends ? [] : await forwardsFrom(store, address, where, mail), mail);
  way.stay(step, kept);
  // One that waits is no reason to lose what it would have passed on.
  const waits = kept.some(({ kind }) => kind === 'pending' || kind === 'stopped' || kind === 'secret');
  const stays = accounts.length > 0 && (going.length === 0 || waits || going.some((one) => one.keepLocal));
  if (stays) for (const account of accounts) way.keep(account, address, aliases);
  const fallback = stays ? undefined : (taking[0] ?? step.fallback);
  for (const account of accounts) way.meet(account, address);
  const judged = step.judged || accounts.length > 0;
  const on = going.flatMap((one): Step[] => {
    const to = parseAddress(one.destination);
    return to === undefined ? [] : [{ recipient, address: to, by: one, fallback, aliases, judged }];
  });
  return { arrived: stays, on };
}

/**
 * Whether it goes no further from an address that leads to these accounts, of which some are `taking` it into their
 * inboxes. What one of several says for itself is its own affair: it must not end what the address does for the others.
 */
function isJunkFor(accounts: readonly number[], taking: readonly number[], { junk }: ForwardedMail): boolean {
  return taking.length < accounts.length && (taking.length === 0 || junk === true);
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
  const stays = ({ state, byProgram }: Forward): keyof typeof STAYS | undefined => {
    if (state !== 'active') return state;
    return byProgram && mail.secretLink === true ? 'secret' : undefined;
  };
  const kept = forwards.flatMap((one) => {
    const kind = stays(one);
    return kind === undefined ? [] : [{ tenant, source, kind, why: STAYS[kind] }];
  });
  return { going: forwards.filter((one) => stays(one) === undefined), kept };
}

const STAYS = {
  pending: 'its destination has not confirmed the forward yet',
  stopped: 'the organization that set the forward is stopped',
  secret: 'it carries a link that acts for a person, and a token set the forward: a person can set it anew',
} as const;

/** The copy for an address elsewhere, unless what is known of the author keeps it here. */
function leave(step: Step, by: Forward, mail: ForwardedMail, way: Way): Followed {
  const domain = by.source.slice(by.source.lastIndexOf('@') + 1);
  const staying = mail.proof && mayLeave(mail.proof.authentication, domain);
  if (staying !== undefined) {
    way.stay(step, [{ tenant: by.tenant, source: by.source, ...staying }]);
    return NOWHERE;
  }
  const copy = onward(mail, step, by, domain);
  way.plan.bare ||= !step.judged;
  if (mail.junk === true && !step.judged) {
    way.hesitate(step, copy);
    return NOWHERE;
  }
  way.plan.onward.push(copy);
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
