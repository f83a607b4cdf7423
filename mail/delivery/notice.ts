import type { OutgoingMessage } from './types.ts';
import type { Stamp, Write } from '../store/engine/types.ts';
import { recordJournalEvent } from '../store/journal/journal.ts';
import { sendMessage, type SendMessageResult } from './outgoing.ts';

interface NoticeProperties {
  /** Envelope sender: the null reverse-path, or mailstead@HOSTNAME. */
  sender: 'null' | 'box';
  /** RFC 3834 5.1: stops auto-responders. Replies to a message say so. */
  autoSubmitted: 'auto-generated' | 'auto-replied';
  /**
   * Recipients. `sender`: sender of the reported message. `domain`: report addresses that a domain publishes in the DNS.
   * `owners`: owners of an organization with a verified address. `person`: a user of this box. `anyone`: an address that
   * somebody else entered, so it has a limit.
   */
  audience: 'sender' | 'domain' | 'owners' | 'person' | 'anyone';
  /** Maximum notices of this kind to one address (without +tag) in 24 hours. Left out: limited by the state that it reports. */
  daily?: number;
}

const report = { sender: 'null', autoSubmitted: 'auto-replied', audience: 'sender' } as const;
/** One report about a domain and day; it has no return address, so that no answer to it can cause another. */
const toDomain = { sender: 'null', autoSubmitted: 'auto-generated', audience: 'domain' } as const;
const toOwners = { sender: 'box', autoSubmitted: 'auto-generated', audience: 'owners' } as const;
const toPerson = { sender: 'box', autoSubmitted: 'auto-generated', audience: 'person', daily: 5 } as const;
const toAnyone = { sender: 'box', autoSubmitted: 'auto-generated', audience: 'anyone', daily: 5 } as const;

/** All messages that the box sends itself. Everything else passes the checks of a submission. */
export const NOTICES = {
  bounce: report,
  'delay-report': report,
  'success-report': report,
  'dmarc-report': toDomain,
  'tls-report': toDomain,
  claim: toAnyone,
  invitation: toAnyone,
  'forward-confirmation': toAnyone,
  'password-reset': toPerson,
  'address-proof': toPerson,
  'new-device': toPerson,
  'approval-request': toOwners,
  'paused-sender': toOwners,
  'canary-alert': toOwners,
  'daily-digest': toOwners,
  'digest-reply': toOwners,
  'agents-stopped': toOwners,
  'tools-changed': toOwners,
  'audit-head': toOwners,
  'webhook-failing': toOwners,
  'webhook-disabled': toOwners,
  'certificate-failing': toOwners,
  'failing-source': toOwners,
  'check-failing': toOwners,
  'dns-drift': toOwners,
} as const satisfies Record<string, NoticeProperties>;

export type NoticeKind = keyof typeof NOTICES;

/** Notice kinds with these properties. */
type With<Condition> = { [K in NoticeKind]: (typeof NOTICES)[K] extends Condition ? K : never }[NoticeKind];
export type OwnerNoticeKind = With<{ audience: 'owners' }>;
export type LimitedNoticeKind = With<{ daily: number }>;
export type ReportKind = With<{ audience: 'sender' }>;

/** A composed and routed notice. */
export interface SystemNotice<Kind extends NoticeKind = NoticeKind> extends OutgoingMessage {
  kind: Kind;
}

/** Sends a notice of the box itself, in the transaction of what it reports. */
export async function sendNotice(tx: Write, { kind, ...mail }: SystemNotice, stamp: Stamp): Promise<SendMessageResult> {
  const { sender } = NOTICES[kind];
  // The null reverse-path ends every loop of reports, and only reports may have it. RFC 5321 6.1.
  if ((sender === 'null') !== (mail.sender === '')) throw new Error(`a ${kind} has the wrong envelope sender`);
  if (mail.account !== null || mail.tenant !== 0) throw new Error(`a ${kind} is sent by an account`);
  // Its mailbox may have been deleted since it was prepared: an error would undo what it reports.
  const here = mail.here.map((delivery) => ({ ...delivery, evenIfDeleted: true }));
  return sendMessage(tx, { ...mail, here }, stamp);
}

/** Sends all notices about one event. Returns true if anything was queued. */
export async function sendNotices(tx: Write, notices: readonly SystemNotice[], stamp: Stamp): Promise<boolean> {
  let queued = false;
  for (const one of notices) queued = (await sendNotice(tx, one, stamp)).queued || queued;
  return queued;
}

/** Reports success for recipients on this box to a sender that asked for it. RFC 3461 5.2.6. */
export async function sendSuccessReport(
  tx: Write,
  { trace, account, tenant }: Pick<OutgoingMessage, 'trace' | 'account' | 'tenant'>,
  mail: OutgoingMessage,
  stamp: Stamp,
): Promise<void> {
  const to = mail.here[0]?.to ?? mail.elsewhere[0]?.recipient;
  if (to === undefined) return;
  await sendNotice(tx, { ...mail, kind: 'success-report' }, stamp);
  await recordJournalEvent(tx, trace, 'bounced', account, { kind: 'success', to, as: mail.trace }, stamp, { tenant });
}
