import { formatAddress, type Address } from '../message/address.ts';
import { indexMessage } from '../message/indexer.ts';
import type { Store } from '../store/engine/types.ts';
import type { MailStore } from '../store/store.ts';
import { createDelivery } from './create-delivery.ts';
import { routeOutward } from './route.ts';
import type { ReportKind, SystemNotice } from './notice.ts';

/** Store for composing reports. */
export type ReportStore = Store & Pick<MailStore, 'secretLinks'>;

/**
 * Addresses a report to the sender of a message: into the local mailbox, or out with the null reverse-path and NOTIFY=NEVER.
 * It has no recipients if the sender does not exist any more.
 */
export async function routeReport<Kind extends ReportKind>(
  store: ReportStore,
  report: { kind: Kind; to: Address; bytes: Uint8Array; trace: string; hold: string | null },
): Promise<SystemNotice<Kind>> {
  const to = formatAddress(report.to);
  const target = await routeOutward(store, report.to);
  // Also into a full mailbox: nobody else could be informed.
  const accounts = target.kind === 'here' || target.kind === 'full' ? target.accounts : [];
  const data = Uint8Array.from(report.bytes);
  return {
    kind: report.kind,
    trace: report.trace,
    account: null,
    tenant: 0,
    sender: '',
    smtputf8: false,
    eightBit: false,
    ret: '',
    envid: '',
    signAs: [],
    here: accounts.map((account) => createDelivery(account, report.to, undefined)),
    elsewhere:
      target.kind === 'elsewhere' ? [{ recipient: to, domain: report.to.domain, notify: 'NEVER', orcpt: '' }] : [],
    hold: report.hold,
    data,
    file: null,
    index: indexMessage(data, store.secretLinks),
  };
}
