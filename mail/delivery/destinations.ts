import { type Address, formatAddress } from '../message/address.ts';
import { suppressed } from '../store/queue/suppression.ts';
import { query, type Store } from '../store/engine/types.ts';
import type { NewQueueRow } from '../store/queue/queue.ts';
import { type ForwardInput, type NotForwarded, planForwards } from './forward.ts';
import { createDelivery, onePerAccount } from './create-delivery.ts';
import type { NoticeReplies } from './notice-replies.ts';
import { routeAtOwnName, routeOutward } from './route.ts';
import type { Delivery, ForwardedCopy } from './types.ts';

/** Destinations of the recipients of an outgoing message. */
export interface Destinations {
  /** Local recipients as named; more than {@link here}, since some only forward. */
  local: string[];
  here: Delivery[];
  elsewhere: NewQueueRow[];
  onward: ForwardedCopy[];
}

/** A local recipient that cannot be reached. */
export interface Unreachable {
  address: string;
  /** `lost`: its forwards lead nowhere, or do not accept this message. `later`: they are not active at the moment. */
  why: 'unknown' | 'deleted' | 'over' | 'full' | 'lost' | 'later';
}

/** Reasons of {@link Unreachable}, as the end of a sentence. */
export const UNREACHABLE: Readonly<Record<Unreachable['why'], string>> = {
  unknown: 'no such mailbox in a domain hosted here',
  deleted: 'its mailbox was deleted',
  over: 'a temporary address that has expired',
  full: 'its mailbox is full',
  lost: 'it only forwards, and this message cannot be forwarded',
  later: 'it only forwards, and its forward is not active at the moment',
};

/** Temporary reasons of a forward. */
const TEMPORARY: ReadonlySet<NotForwarded['kind']> = new Set(['trouble', 'spent', 'pending', 'stopped']);

/**
 * Resolves recipients. Envelope sender and header fields decide what is forwarded. `noticeReplies` classifies reply addresses of
 * notices. With `late`, a full mailbox still takes mail that was accepted before.
 */
export async function findDestinations(
  store: Store,
  recipients: readonly Address[],
  mail: ForwardInput & { hostname: string; noticeReplies?: Pick<NoticeReplies, 'classify'> | undefined },
  { late = false }: { late?: boolean } = {},
): Promise<Destinations & { unreachable: Unreachable[] }> {
  const local: Address[] = [];
  const answered: string[] = [];
  // At the box's own host name, which has no forwards.
  const own: Delivery[] = [];
  const elsewhere: NewQueueRow[] = [];
  const unreachable: Unreachable[] = [];
  for (const address of recipients) {
    const recipient = formatAddress(address);
    const answer = mail.noticeReplies?.classify(address);
    if (answer === 'answer') answered.push(recipient);
    else if (answer === 'over') unreachable.push({ address: recipient, why: 'over' });
    if (answer !== undefined) continue;
    const outward = await routeOutward(store, address, { now: mail.now });
    const atOwnName = outward.kind === 'elsewhere' && address.domain === mail.hostname;
    const target = atOwnName ? await routeAtOwnName(store, address) : outward;
    const { kind } = target;
    if (atOwnName && kind === 'here')
      own.push(...target.accounts.map((one) => createDelivery(one, address, mail.sender)));
    else if (kind === 'elsewhere') elsewhere.push({ recipient, domain: address.domain, notify: '', orcpt: '' });
    else if (kind === 'unknown' || kind === 'deleted' || kind === 'over' || (kind === 'full' && !late))
      unreachable.push({ address: recipient, why: kind });
    else local.push(address);
  }
  const { here, onward, lost, kept } = await planForwards(store, local, mail);
  for (const address of lost) {
    const passing = kept.some(({ recipient, kind }) => recipient === address && TEMPORARY.has(kind));
    unreachable.push({ address: formatAddress(address), why: passing ? 'later' : 'lost' });
  }
  const reached = local.filter((address) => !lost.includes(address)).map(formatAddress);
  return {
    local: [...reached, ...own.map(({ to }) => to), ...answered],
    here: onePerAccount([...here, ...own]),
    elsewhere,
    onward,
    unreachable,
  };
}

/** Finds those of these addresses that are on the suppression list of a tenant. */
export const suppressedOf = query('suppressed-of', (rx, input: { tenant: number; keys: readonly string[] }) =>
  suppressed(rx, input.tenant, input.keys),
);
