import { type Address, parseAddress } from '../message/address.ts';
import { successReport } from '../message/bounce.ts';
import type { Store } from '../store/engine/types.ts';
import { ownReport, type OwnReportStore } from './own-report.ts';
import type { Outgoing, Wish } from './outgoing.ts';
import { routeOutward } from './route.ts';

/** A recipient on this box of whom the sender is to be told. */
export interface Reached {
  address: Address;
  /** It goes on to other addresses. */
  expanded: boolean;
  /** ORCPT; '' for none. */
  orcpt: string;
}

/** What the sender of a message is told of recipients on this box. */
export interface Success {
  to: Address;
  /** ENVID; '' for none. */
  envid: string;
  /** Of the message. */
  header: Uint8Array;
  reached: readonly Reached[];
  /** Our own name. */
  hostname: string;
  /** ms UTC. */
  now: number;
  /** Of the report. */
  trace: string;
  /** Why it may not go out yet; null lets it go. */
  hold: string | null;
}

/** Whether NOTIFY asks to be told of success. RFC 3461 4.1. */
function asksOfSuccess(notify: string): boolean {
  return notify.split(',').includes('SUCCESS');
}

/** The report of a box that is both ends, to who asked for it; recipients elsewhere are told of when they have it. RFC 3461 5.2.6, 5.2.7. */
export async function reportOfSuccess(store: OwnReportStore, success: Success): Promise<Outgoing> {
  const { to, envid, header, reached, hostname, now, trace, hold } = success;
  const bytes = successReport({
    hostname,
    to,
    now,
    ...(envid !== '' && { envelopeId: envid }),
    originalHeader: header,
    recipients: reached.map(({ orcpt, ...one }) => ({ ...one, ...(orcpt !== '' && { originalRecipient: orcpt }) })),
  });
  return ownReport(store, { to, bytes, trace, hold });
}

/** Of whom the sender is to be told now: those of `local` (recipients here, as named) of whom that was asked. */
export async function reachedHere(store: Store, wishes: readonly Wish[], local: readonly string[]): Promise<Reached[]> {
  const reached: Reached[] = [];
  for (const { recipient, notify, orcpt } of wishes) {
    const address = local.includes(recipient) && asksOfSuccess(notify) ? parseAddress(recipient) : undefined;
    if (address === undefined) continue;
    const where = await routeOutward(store, address);
    reached.push({ address, orcpt, expanded: where.kind === 'forward' || (where.kind === 'here' && where.forwards) });
  }
  return reached;
}
