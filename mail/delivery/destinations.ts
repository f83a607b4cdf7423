import { type Address, formatAddress } from '../message/address.ts';
import { suppressed } from '../store/suppression.ts';
import { query, type Store } from '../store/engine/types.ts';
import type { NewQueueRow } from '../store/queue.ts';
import type { Delivery } from './deliver.ts';
import { type ForwardedMail, type Kept, type Onward, planForwards } from './forward.ts';
import { deliveryTo, oneEach } from './deliveries.ts';
import type { AnswerDesk } from './answers.ts';
import { routeAtOwnName, routeOutward } from './route.ts';

/** Where the recipients of a message that leaves from here lead. */
export interface Destinations {
  /** Recipients on this box, as they were named: some only forward, so they are more than {@link here}. */
  local: string[];
  here: Delivery[];
  elsewhere: NewQueueRow[];
  onward: Onward[];
}

/** A recipient on this box whom nothing reaches. */
export interface Unreachable {
  address: string;
  /** `lost`: its forwards lead nowhere, or may not be followed by this message. `later`: they pass nothing on for now. */
  why: 'unknown' | 'over' | 'full' | 'lost' | 'later';
}

/** Why {@link Unreachable}, as the end of a sentence. */
export const UNREACHABLE: Readonly<Record<Unreachable['why'], string>> = {
  unknown: 'its domain is hosted here, and there is no such mailbox',
  over: 'it was an address for a while, and is not in use any more',
  full: 'its mailbox is full',
  lost: 'it only forwards, and this message cannot go on from there',
  later: 'it only forwards, and its forward passes nothing on for now',
};

/** Reasons of a forward that may be over later. */
const PASSING: ReadonlySet<Kept['kind']> = new Set(['trouble', 'spent', 'pending', 'stopped']);

/**
 * Decides where recipients lead. `sender` is the envelope's, and `fields` the header's: they have a say in what is
 * forwarded. `hostname` is the box's own name, and `answers` knows where letters of it are answered. A full mailbox still takes what was accepted before (`late`).
 */
export async function destinations(
  store: Store,
  recipients: readonly Address[],
  mail: ForwardedMail & { hostname: string; answers?: Pick<AnswerDesk, 'meant'> | undefined },
  { late = false }: { late?: boolean } = {},
): Promise<Destinations & { unreachable: Unreachable[] }> {
  const local: Address[] = [];
  const answered: string[] = [];
  // At the box's own name, where nothing forwards.
  const own: Delivery[] = [];
  const elsewhere: NewQueueRow[] = [];
  const unreachable: Unreachable[] = [];
  for (const address of recipients) {
    const recipient = formatAddress(address);
    const answer = mail.answers?.meant(address);
    if (answer === 'answer') answered.push(recipient);
    else if (answer === 'over') unreachable.push({ address: recipient, why: 'over' });
    if (answer !== undefined) continue;
    const outward = await routeOutward(store, address, { now: mail.now });
    const atOwnName = outward.kind === 'elsewhere' && address.domain === mail.hostname;
    const where = atOwnName ? await routeAtOwnName(store, address) : outward;
    const { kind } = where;
    if (atOwnName && kind === 'here') own.push(...where.accounts.map((one) => deliveryTo(one, address, mail.sender)));
    else if (kind === 'elsewhere') elsewhere.push({ recipient, domain: address.domain, notify: '', orcpt: '' });
    else if (kind === 'unknown' || kind === 'over' || (kind === 'full' && !late))
      unreachable.push({ address: recipient, why: kind });
    else local.push(address);
  }
  const { here, onward, lost, kept } = await planForwards(store, local, mail);
  for (const address of lost) {
    const passing = kept.some(({ recipient, kind }) => recipient === address && PASSING.has(kind));
    unreachable.push({ address: formatAddress(address), why: passing ? 'later' : 'lost' });
  }
  const reached = local.filter((address) => !lost.includes(address)).map(formatAddress);
  return {
    local: [...reached, ...own.map(({ to }) => to), ...answered],
    here: oneEach([...here, ...own]),
    elsewhere,
    onward,
    unreachable,
  };
}

/** Whom of these a tenant's programs write to no more. */
export const suppressedOf = query('suppressed-of', (rx, input: { tenant: number; keys: readonly string[] }) =>
  suppressed(rx, input.tenant, input.keys),
);
