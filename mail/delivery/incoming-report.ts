import type { KeyObject } from 'node:crypto';
import { type Address, parseAddress } from '../message/address.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { isWholly, type Part, unpackParts } from '../message/parts.ts';
import { quotedSenders, readReport } from '../message/report.ts';
import { copyOfReportAddress } from '../message/report-address.ts';
import { type SentCopy, findSentCopy } from '../store/queue/sent-copies.ts';
import type { Store } from '../store/engine/types.ts';
import { createDelivery } from './create-delivery.ts';
import { reportDigest, reportEffect, type ReceivedReport } from './received-report.ts';
import { route } from './route.ts';
import type { Delivery } from './types.ts';

/** Store of sent copies, and the key of their return paths. */
export interface CopyLookup {
  store: Store;
  reportKey: KeyObject;
}

/** Finds the sent copy with this return path. */
export async function findCopy({ store, reportKey }: CopyLookup, sender: Address): Promise<SentCopy | undefined> {
  const id = copyOfReportAddress(sender, reportKey);
  return id === undefined ? undefined : store.read(findSentCopy, { id });
}

/** A message that may be a report. */
export interface PossibleReport {
  sender: Address | undefined;
  /** Sent copies whose return paths are among its recipients. */
  addressedCopies: readonly SentCopy[];
  index: MessageIndex;
  /** Reads its first octets; called only if a part is a report. */
  octets(): Promise<Buffer>;
}

/** `unsolicited`: a report about mail that was not sent from here. */
export interface IncomingReports {
  reports: ReceivedReport[];
  unsolicited: boolean;
}

/**
 * Matches a report to sent copies by their return paths, as recipient or in the quoted message. Never by Message-ID or ENVID:
 * every recipient knows those, and could get the other recipients suppressed.
 */
export async function findIncomingReports(copies: CopyLookup, mail: PossibleReport): Promise<IncomingReports> {
  const { sender, addressedCopies: named, index } = mail;
  if (named.length === 0 && !isWholly(index.parts, 'multipart', 'report')) return { reports: [], unsolicited: false };
  const [octets, parts] = [await mail.octets(), unpackParts(index.parts)];
  const report = readReport(octets, parts);
  const about = named.length > 0 ? named : await findQuotedCopies(copies, octets, parts);
  const reports = await Promise.all(
    about.map(async (copy): Promise<ReceivedReport> => {
      // A message from a person may contain an address and a code; only a report has the null sender.
      const effect =
        report.kind === 'words' && sender !== undefined ? { kind: 'answered' as const } : reportEffect(report, copy);
      const delivery = named.length > 0 ? await deliveryToSender(copies.store, copy, sender) : null;
      return { copy, effect, digest: reportDigest(index.messageId, effect), delivery };
    }),
  );
  return { reports, unsolicited: reports.length === 0 && sender === undefined && report.kind === 'status' };
}

async function findQuotedCopies(copies: CopyLookup, octets: Buffer, parts: readonly Part[]): Promise<SentCopy[]> {
  for (const address of quotedSenders(octets, parts)) {
    const copy = await findCopy(copies, address);
    if (copy !== undefined) return [copy];
  }
  return [];
}

/** Returns the delivery to the sender of a copy, even if the mailbox is full; null for a program without a mailbox. */
async function deliveryToSender(store: Store, copy: SentCopy, from: Address | undefined): Promise<Delivery | null> {
  const address = parseAddress(copy.sender);
  if (address === undefined) return null;
  const target = await route(store, address);
  if (target.kind !== 'here' && target.kind !== 'full') return null;
  // The account that sent it, if several share the alias.
  const account = target.accounts.find((one) => one === copy.account) ?? target.accounts[0];
  return account === undefined ? null : createDelivery(account, address, from);
}
