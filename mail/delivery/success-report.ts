import { type Address, parseAddress } from '../message/address.ts';
import { composeSuccessReport } from '../message/delivery-report.ts';
import type { Store } from '../store/engine/types.ts';
import { routeReport, type ReportStore } from './route-report.ts';
import { routeOutward } from './route.ts';
import type { OutgoingMessage } from './types.ts';
import type { DsnRequest } from './types.ts';

/** A local recipient in a success report. */
export interface ReachedRecipient {
  address: Address;
  /** It is forwarded (action "expanded"). */
  expanded: boolean;
  /** ORCPT; '' for none. */
  orcpt: string;
}

/** Success report about local recipients. */
export interface SuccessReportInput {
  to: Address;
  /** ENVID; '' for none. */
  envid: string;
  /** Header of the message. */
  header: Uint8Array;
  recipients: readonly ReachedRecipient[];
  /** Host name of the box. */
  hostname: string;
  /** ms UTC. */
  now: number;
  /** Trace id of the report. */
  trace: string;
  /** Reason why it is held; null: none. */
  hold: string | null;
}

/** True if NOTIFY requests a success report. RFC 3461 4.1. */
function requestsSuccessReport(notify: string): boolean {
  return notify.split(',').includes('SUCCESS');
}

/** Composes the success report about local recipients. Remote ones are reported after their delivery. RFC 3461 5.2.6, 5.2.7. */
export async function createLocalReport(store: ReportStore, success: SuccessReportInput): Promise<OutgoingMessage> {
  const { to, envid, header, recipients, hostname, now, trace, hold } = success;
  const bytes = composeSuccessReport({
    hostname,
    to,
    now,
    ...(envid !== '' && { envelopeId: envid }),
    originalHeader: header,
    recipients: recipients.map(({ orcpt, ...one }) => ({ ...one, ...(orcpt !== '' && { originalRecipient: orcpt }) })),
  });
  return routeReport(store, { kind: 'success-report', to, bytes, trace, hold });
}

/** Finds those of the local recipients for which a success report was requested. */
export async function findReachedRecipients(
  store: Store,
  wishes: readonly DsnRequest[],
  local: readonly string[],
): Promise<ReachedRecipient[]> {
  const reached: ReachedRecipient[] = [];
  for (const { recipient, notify, orcpt } of wishes) {
    const address = local.includes(recipient) && requestsSuccessReport(notify) ? parseAddress(recipient) : undefined;
    if (address === undefined) continue;
    const target = await routeOutward(store, address);
    reached.push({
      address,
      orcpt,
      expanded: target.kind === 'forward' || (target.kind === 'here' && target.forwards),
    });
  }
  return reached;
}
