import type { Delivery, ForwardedCopy } from './types.ts';
import { type Authentication, type ChainStatus, resultsText } from '../auth/authentication.ts';
import { forwardTrace, checkForward } from '../forwarder/loop-guard.ts';
import { checkForwardDmarc } from '../forwarder/dmarc-check.ts';
import { rewriteSender } from '../forwarder/srs.ts';
import { type Address, addressKey, formatAddress, lookupKeys, needsUtf8, parseAddress } from '../message/address.ts';
import type { Field } from '../message/header.ts';
import type { Store } from '../store/engine/types.ts';
import { type Forward, forwardsOf } from '../store/address/forwarder.ts';
import { createDelivery, onePerAccount } from './create-delivery.ts';
import { type RecipientTarget, routeOutward } from './route.ts';

export interface ForwardPlan {
  /** Local deliveries, one per account. */
  here: Delivery[];
  onward: ForwardedCopy[];
  /** Recipients that reach nobody: a message with one of these must be rejected. */
  lost: Address[];
  /** Copies that are not forwarded, with the reason. */
  kept: NotForwarded[];
  /** Deliveries to all accounts on the path, whether or not they keep a copy. */
  passedAccounts: Delivery[];
  /** A forwarded copy passes no account, so no account's filter applies to it. */
  skipsAccounts: boolean;
}

/** Creates an empty plan. */
export function emptyPlan(): ForwardPlan {
  return { here: [], onward: [], lost: [], kept: [], passedAccounts: [], skipsAccounts: false };
}

/** A copy that is not forwarded. */
export interface NotForwarded {
  recipient: Address;
  /** Tenant of the forward. */
  tenant: number;
  /** Address key of the forward's source. */
  source: string;
  /** The first four are permanent, the others temporary. */
  kind: 'automatic' | 'loop' | 'unproven' | 'secret' | 'trouble' | 'spent' | 'pending' | 'stopped' | 'junk';
  why: string;
}

export interface ForwardInput {
  sender: Address | undefined;
  fields: readonly Field[];
  /** Key of the box for SRS and loop markers. */
  key: Buffer;
  /** ms UTC. */
  now: number;
  /** Authentication of the author, and the host that did it; left out: a verified local author. */
  proof?: { authserv: string; authentication: Authentication };
  /** Domains of verified authors: their keys sign too. */
  authors?: readonly string[];
  /** Accounts that accept it, by recipient; others are full or block the sender. Left out: all. */
  takers?: ReadonlyMap<Address, readonly number[]>;
  /** It contains a sign-in link: forwards created by programs do not pass it on. */
  secretLink?: boolean | undefined;
  /** Accounts that file it in Junk or Rejects. */
  staying?: ReadonlySet<number>;
  /** Junk for all recipients: copies that pass no account are forwarded only to recipients not reached otherwise. */
  junk?: boolean;
}

/** An address on the path of a recipient: itself, or the target of a forward. */
interface ForwardStep {
  recipient: Address;
  address: Address;
  by: Forward | undefined;
  /** The last mailbox on the path that keeps no copy. */
  fallback: number | undefined;
  /** Aliases on the path. */
  aliases: readonly number[];
  /** The filter of an account on the path has checked it. */
  isFiltered: boolean;
}

/** Maximum forwards of one message. */
const MAX_FORWARDS = 200;

/**
 * Plans the forwards of recipients; local ones are followed to their end. Mail that may not be forwarded, or leads nowhere,
 * goes to the last mailbox on the path, if there is one.
 */
export async function planForwards(
  store: Store,
  recipients: readonly Address[],
  mail: ForwardInput,
): Promise<ForwardPlan> {
  if (recipients.length === 0) return emptyPlan();
  const walk = new ForwardWalk(mail.sender);
  const open: ForwardStep[] = recipients.map((address) => ({
    recipient: address,
    address,
    by: undefined,
    fallback: undefined,
    aliases: [],
    isFiltered: false,
  }));
  let forwards = 0;
  for (let step = open.shift(); step !== undefined; step = open.shift()) {
    if (!walk.enter(step)) continue;
    const tooMany = step.by !== undefined && ++forwards > MAX_FORWARDS;
    const { arrived, on } = tooMany ? UNREACHED : await followStep(store, step, mail, walk);
    walk.recordNext(step, on);
    if (arrived) walk.recordArrival(step);
    else if (on.length === 0) walk.fallBack(step);
    open.push(...on);
  }
  return walk.end(recipients);
}

/** State of the walk over forwards. An address is visited once per fallback, so loops end. */
class ForwardWalk {
  readonly plan = emptyPlan();
  readonly #sender: Address | undefined;
  /** First recipient that visited a node. */
  readonly #visited = new Map<string, Address>();
  /** Next nodes of each node. */
  readonly #next = new Map<string, readonly string[]>();
  /** Nodes with a delivery. */
  readonly #arrived = new Set<string>();
  /** Copies that are not forwarded from a node. */
  readonly #notForwarded = new Map<string, readonly NotForwarded[]>();
  /** Steps that share the rest of the path with another recipient. */
  readonly #joined: ForwardStep[] = [];
  /** Copies that are forwarded only if their recipient is not reached otherwise. */
  readonly #lastResorts: { step: ForwardStep; copy: ForwardedCopy }[] = [];

  constructor(sender: Address | undefined) {
    this.#sender = sender;
  }

  enter(step: ForwardStep): boolean {
    const node = nodeKey(step);
    const other = this.#visited.get(node);
    if (other === undefined) {
      this.#visited.set(node, step.recipient);
      return true;
    }
    // A loop of one recipient: no other step delivers it.
    if (other === step.recipient) this.fallBack(step);
    else this.#joined.push(step);
    return false;
  }

  keep(account: number, address: Address, aliases: readonly number[]): void {
    this.plan.here.push(createDelivery(account, address, this.#sender, aliases));
  }

  recordPassed(account: number, address: Address): void {
    this.plan.passedAccounts.push(createDelivery(account, address, this.#sender));
  }

  recordKept(step: ForwardStep, kept: readonly Omit<NotForwarded, 'recipient'>[]): void {
    const { recipient } = step;
    const all = kept.map((one) => ({ ...one, recipient }));
    this.plan.kept.push(...all);
    this.#notForwarded.set(nodeKey(step), all);
  }

  addLastResort(step: ForwardStep, copy: ForwardedCopy): void {
    this.#lastResorts.push({ step, copy });
  }

  recordNext(step: ForwardStep, on: readonly ForwardStep[]): void {
    this.#next.set(nodeKey(step), on.map(nodeKey));
  }

  recordArrival(step: ForwardStep): void {
    this.#arrived.add(nodeKey(step));
  }

  fallBack(step: ForwardStep): void {
    const { recipient, fallback, aliases } = step;
    if (fallback === undefined) return;
    this.keep(fallback, recipient, aliases);
    this.recordArrival(step);
  }

  end(recipients: readonly Address[]): ForwardPlan {
    // All recipients that are not reached: in a loop of several recipients one copy is not enough.
    for (const step of this.#joined.filter((one) => !this.#isReached(nodeKey(one)))) this.fallBack(step);
    this.#sendLastResorts(this.#unreached(recipients));
    const lost = this.#unreached(recipients);
    const kept = [...this.plan.kept, ...lost.flatMap((address) => this.#sharedReasons(address))];
    return { ...this.plan, here: onePerAccount(this.plan.here), lost, kept };
  }

  /** Lists reasons for a recipient that shares its path with another one. */
  #sharedReasons(recipient: Address): NotForwarded[] {
    const reasons = [...this.#ahead(nodeKey({ address: recipient }))].flatMap(
      (node) => this.#notForwarded.get(node) ?? [],
    );
    return reasons.filter((one) => one.recipient !== recipient).map((one) => ({ ...one, recipient }));
  }

  #sendLastResorts(unreached: readonly Address[]): void {
    const ahead = new Set(unreached.flatMap((address) => [...this.#ahead(nodeKey({ address }))]));
    for (const { step, copy } of this.#lastResorts) {
      const { recipient } = step;
      const { tenant, source = '' } = copy;
      if (ahead.has(nodeKey(step))) {
        this.plan.onward.push(copy);
        this.recordArrival(step);
      } else this.plan.kept.push({ recipient, tenant, source, kind: 'junk', why: JUNK });
    }
  }

  #unreached(recipients: readonly Address[]): Address[] {
    return recipients.filter((address) => !this.#isReached(nodeKey({ address })));
  }

  #isReached(node: string): boolean {
    return [...this.#ahead(node)].some((one) => this.#arrived.has(one));
  }

  /** Returns a node and all nodes that are reachable from it. */
  #ahead(node: string): Set<string> {
    const ahead = new Set([node]);
    // Nodes that are added during the iteration are visited too.
    for (const one of ahead) for (const next of this.#next.get(one) ?? []) ahead.add(next);
    return ahead;
  }
}

/** Key of a node. The fallback is part of it: if the path fails, that mailbox gets the message. */
function nodeKey({ address, fallback }: Pick<ForwardStep, 'address'> & Partial<Pick<ForwardStep, 'fallback'>>): string {
  return `${addressKey(address)} ${fallback ?? ''}`;
}

const JUNK = 'it looks like junk, so it is not forwarded';

interface FollowResult {
  /** The message is delivered or forwarded here. */
  arrived: boolean;
  on: ForwardStep[];
}

const UNREACHED: FollowResult = { arrived: false, on: [] };

async function followStep(
  store: Store,
  step: ForwardStep,
  mail: ForwardInput,
  walk: ForwardWalk,
): Promise<FollowResult> {
  const { recipient, address, by } = step;
  const target = await routeOutward(store, address, { now: mail.now });
  if (target.kind === 'elsewhere') return by === undefined ? UNREACHED : leaveBox(step, by, mail, walk);
  if (target.kind === 'over') return UNREACHED;
  const { accounts, aliases } = acceptingAccounts(step, target, mail);
  const taking = accounts.filter((one) => mail.staying?.has(one) !== true);
  const stops = staysAsJunk(accounts, taking, mail);
  const { going, kept } = selectForwards(stops ? [] : await readForwards(store, address, target, mail), mail);
  walk.recordKept(step, kept);
  // Deliver locally while a forward is inactive, so that nothing is lost.
  const waits = kept.some(({ kind }) => kind === 'pending' || kind === 'stopped' || kind === 'secret');
  const stays = accounts.length > 0 && (going.length === 0 || waits || going.some((one) => one.keepLocal));
  if (stays) for (const account of accounts) walk.keep(account, address, aliases);
  const fallback = stays ? undefined : (taking[0] ?? step.fallback);
  for (const account of accounts) walk.recordPassed(account, address);
  const isFiltered = step.isFiltered || accounts.length > 0;
  const on = going.flatMap((one): ForwardStep[] => {
    const to = parseAddress(one.destination);
    return to === undefined ? [] : [{ recipient, address: to, by: one, fallback, aliases, isFiltered }];
  });
  return { arrived: stays, on };
}

/**
 * True if the message is not forwarded from an address, since it is junk for its accounts. `taking`: accounts that file it in
 * the inbox. One account of several does not stop the forward for the others.
 */
function staysAsJunk(accounts: readonly number[], taking: readonly number[], { junk }: ForwardInput): boolean {
  return taking.length < accounts.length && (taking.length === 0 || junk === true);
}

/** Returns accepting accounts and aliases. Full ones too: the message is accepted already, or this is its only path. */
function acceptingAccounts(
  { recipient, by, aliases }: ForwardStep,
  target: RecipientTarget,
  { takers }: ForwardInput,
): Pick<ForwardStep, 'aliases'> & { accounts: readonly number[] } {
  if (target.kind !== 'here' && target.kind !== 'full') return { accounts: [], aliases };
  const named = by === undefined ? takers?.get(recipient) : undefined;
  const accounts = target.accounts.filter((one) => named?.includes(one) ?? true);
  return { accounts, aliases: [...aliases, ...(target.aliases ?? [])] };
}

/** Reads forwards. An alias with +detail does not use the forwards of the address without it. */
async function readForwards(
  store: Store,
  address: Address,
  target: RecipientTarget,
  { now }: ForwardInput,
): Promise<Forward[]> {
  if (target.kind === 'here' && !target.forwards) return [];
  return store.read(forwardsOf, { keys: lookupKeys(address), now });
}

/** Selects the forwards that apply, with reasons for the others. */
function selectForwards(
  forwards: readonly Forward[],
  mail: ForwardInput,
): { going: Forward[]; kept: Omit<NotForwarded, 'recipient'>[] } {
  const [first] = forwards;
  if (first === undefined) return { going: [], kept: [] };
  const { source, tenant } = first;
  const guarded = checkForward({ ...mail, nullSender: mail.sender === undefined, source });
  if (guarded.kind !== 'forward') return { going: [], kept: [{ tenant, source, ...guarded }] };
  const why = 'the daily limit of the forward is reached';
  if (first.spent) return { going: [], kept: [{ tenant, source, kind: 'spent', why }] };
  const stays = ({ state, byProgram }: Forward): keyof typeof KEPT_REASONS | undefined => {
    if (state !== 'active') return state;
    return byProgram && mail.secretLink === true ? 'secret' : undefined;
  };
  const kept = forwards.flatMap((one) => {
    const kind = stays(one);
    return kind === undefined ? [] : [{ tenant, source, kind, why: KEPT_REASONS[kind] }];
  });
  return { going: forwards.filter((one) => stays(one) === undefined), kept };
}

const KEPT_REASONS = {
  pending: 'the destination has not confirmed the forward yet',
  stopped: 'the organization of the forward is suspended',
  secret: 'it contains a sign-in link, and a token created the forward; a person can create it again',
} as const;

/** Adds the copy for a remote address, unless the authentication of the author forbids it. */
function leaveBox(step: ForwardStep, by: Forward, mail: ForwardInput, walk: ForwardWalk): FollowResult {
  const domain = by.source.slice(by.source.lastIndexOf('@') + 1);
  const staying = mail.proof && checkForwardDmarc(mail.proof.authentication, domain);
  if (staying !== undefined) {
    walk.recordKept(step, [{ tenant: by.tenant, source: by.source, ...staying }]);
    return UNREACHED;
  }
  const copy = forwardedCopy(mail, step, by, domain);
  walk.plan.skipsAccounts ||= !step.isFiltered;
  if (mail.junk === true && !step.isFiltered) {
    walk.addLastResort(step, copy);
    return UNREACHED;
  }
  walk.plan.onward.push(copy);
  return { arrived: true, on: [] };
}

/** Returns a report about a forwarded message to its original sender. Unsigned, since outsiders wrote it. */
export function returnToSender(to: Address): ForwardedCopy {
  const row = { recipient: formatAddress(to), domain: to.domain, notify: 'NEVER', orcpt: '' };
  return { tenant: 0, sender: '', signAs: null, prefix: '', smtputf8: needsUtf8(to), row };
}

function forwardedCopy(
  mail: ForwardInput,
  { address, fallback, aliases }: ForwardStep,
  by: Forward,
  domain: string,
): ForwardedCopy {
  const { sender, key, now, proof, authors = [] } = mail;
  const rewritten = sender && rewriteSender(sender, domain, key, now);
  const recipient = formatAddress(address);
  return {
    tenant: by.tenant,
    sender: rewritten === undefined ? '' : formatAddress(rewritten),
    signAs: [...new Set([...authors, domain])],
    prefix: (proof === undefined ? '' : authenticationResultsField(proof)) + forwardTrace(by.source, recipient, key),
    source: by.source,
    aliases,
    arc: arcStatus(proof?.authentication.arc),
    smtputf8: needsUtf8(address) || (rewritten !== undefined && needsUtf8(rewritten)),
    row: {
      recipient,
      domain: address.domain,
      // No DSN: the original sender did not create the forward.
      notify: 'NEVER',
      orcpt: '',
      ...(fallback !== undefined && { fallback }),
    },
  };
}

function authenticationResultsField({ authserv, authentication }: NonNullable<ForwardInput['proof']>): string {
  return `Authentication-Results: ${resultsText(authserv, authentication)}\r\n`;
}

/** Maps an ARC result to a seal status; none after a DNS error, since a seal must state a status. */
function arcStatus(arc: Authentication['arc'] | undefined): ChainStatus | '' {
  return arc === undefined || arc === 'temperror' ? '' : arc;
}
