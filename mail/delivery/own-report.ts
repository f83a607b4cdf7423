import { formatAddress, type Address } from '../message/address.ts';
import { indexMessage } from '../message/indexer.ts';
import type { Store } from '../store/engine/types.ts';
import type { MailStore } from '../store/store.ts';
import { deliveryTo } from './deliveries.ts';
import { routeOutward } from './route.ts';
import type { Outgoing } from './submit.ts';

/** What a report is made with. */
export type OwnReportStore = Store & Pick<MailStore, 'secretLinks'>;

/**
 * A report of ours on its way to who sent a message: into the mailbox, or out with the null reverse-path and a wish for
 * no report in turn. To nobody when the sender is not here any more.
 */
export async function ownReport(
  store: OwnReportStore,
  report: { to: Address; bytes: Uint8Array; trace: string; hold: string | null },
): Promise<Outgoing> {
  const to = formatAddress(report.to);
  const where = await routeOutward(store, report.to);
  // Also into a full mailbox: there is nobody else to tell.
  const accounts = where.kind === 'here' || where.kind === 'full' ? where.accounts : [];
  const data = Uint8Array.from(report.bytes);
  return {
    trace: report.trace,
    account: null,
    tenant: 0,
    sender: '',
    smtputf8: false,
    eightBit: false,
    ret: '',
    envid: '',
    signAs: [],
    here: accounts.map((account) => deliveryTo(account, report.to, undefined)),
    elsewhere:
      where.kind === 'elsewhere' ? [{ recipient: to, domain: report.to.domain, notify: 'NEVER', orcpt: '' }] : [],
    hold: report.hold,
    data,
    file: null,
    index: indexMessage(data, store.secretLinks),
  };
}
