import type { KeyObject } from 'node:crypto';
import { type Address, parseAddress } from '../message/address.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { isWholly, type Part, unpackParts } from '../message/parts.ts';
import { quotedSenders, readReport } from '../message/report.ts';
import { reportedCopy } from '../message/report-address.ts';
import { type Departed, departedCopy } from '../store/departed.ts';
import type { Store } from '../store/engine/types.ts';
import type { Delivery } from './deliver.ts';
import { deliveryTo } from './deliveries.ts';
import { digestOf, saidOf, type TakenReport } from './report.ts';
import { route } from './route.ts';

/** Where copies are looked up, and the key of their senders. */
export interface Copies {
  store: Store;
  reportKey: KeyObject;
}

/** The copy of a message of ours that left under this sender. */
export async function copyOf({ store, reportKey }: Copies, sender: Address): Promise<Departed | undefined> {
  const id = reportedCopy(sender, reportKey);
  return id === undefined ? undefined : store.read(departedCopy, { id });
}

/** A message that may be a report. */
export interface Incoming {
  sender: Address | undefined;
  /** Copies whose senders are among its recipients. */
  named: readonly Departed[];
  index: MessageIndex;
  /** How it begins. Not asked for where no part says that it is a report. */
  octets(): Promise<Buffer>;
}

/** `unasked`: a report, and about nothing that left from here. */
export interface IncomingReports {
  reports: TakenReport[];
  unasked: boolean;
}

/**
 * What a message reports of our own, by the sender that a copy left under: it came to that, or quotes it. Never by its
 * Message-ID or the envelope id: everybody who got the message knows those, and could take all its other recipients off
 * our lists.
 */
export async function incomingReports(copies: Copies, mail: Incoming): Promise<IncomingReports> {
  const { sender, named, index } = mail;
  if (named.length === 0 && !isWholly(index.parts, 'multipart', 'report')) return { reports: [], unasked: false };
  const [octets, parts] = [await mail.octets(), unpackParts(index.parts)];
  const report = readReport(octets, parts);
  const about = named.length > 0 ? named : await quotedCopies(copies, octets, parts);
  const reports = await Promise.all(
    about.map(async (copy): Promise<TakenReport> => {
      // What a person writes may name an address and a code: only a report has no sender.
      const said =
        report.kind === 'words' && sender !== undefined ? { kind: 'answered' as const } : saidOf(report, copy);
      const delivery = named.length > 0 ? await toSender(copies.store, copy, sender) : null;
      return { copy, said, digest: digestOf(index.messageId, said), delivery };
    }),
  );
  return { reports, unasked: reports.length === 0 && sender === undefined && report.kind === 'status' };
}

async function quotedCopies(copies: Copies, octets: Buffer, parts: readonly Part[]): Promise<Departed[]> {
  for (const address of quotedSenders(octets, parts)) {
    const copy = await copyOf(copies, address);
    if (copy !== undefined) return [copy];
  }
  return [];
}

/** The mailbox of who sent a copy; a program may have none. Also a full one: there is nobody else to tell. */
async function toSender(store: Store, copy: Departed, from: Address | undefined): Promise<Delivery | null> {
  const address = parseAddress(copy.sender);
  if (address === undefined) return null;
  const where = await route(store, address);
  if (where.kind !== 'here' && where.kind !== 'full') return null;
  // Of several who write from one alias, the one who wrote this.
  const account = where.accounts.find((one) => one === copy.account) ?? where.accounts[0];
  return account === undefined ? null : deliveryTo(account, address, from);
}
