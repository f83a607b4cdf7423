import { classifyReply, type ReplyClass } from '../../../mail/relay/reply-class.ts';
import { PAUSED } from '../../../mail/store/limit/paused-sender.ts';
import { FROZEN } from '../../organizations/commands.ts';

/** Next step for mail of a paused sender. */
export const RESUME = 'resume_sender releases all of its mail; cancel this one first if it is unwanted.';

/** Fields of a queue row that explain the wait. */
export interface QueuedRow {
  /** 0 due, 1 held. */
  state: number;
  hold_reason: string | null;
  domain: string;
  attempts: number;
  last_status: string | null;
  last_text: string | null;
}

/** Meaning and next step for each kind of failure; `{domain}` is the remote domain. */
const MEANINGS: Readonly<Record<ReplyClass, string>> = {
  unreachable:
    'No mail server of {domain} is reachable. If this affects all domains, the network may block port 25: set a route through a smarthost.',
  dns: 'DNS lookup failed for {domain}. If it persists, check the resolver of this server.',
  login:
    'The smarthost rejects the user name or password of the route: set the route again with the right ones. No mail is lost.',
  greylisted: '{domain} defers mail from unknown servers (greylisting); a later attempt succeeds.',
  blocked:
    '{domain} rejects this server because of its IP reputation. Ask the named blocklist to remove the address, or set a route through a smarthost.',
  'rate-limited': '{domain} rate-limits this server; mail is sent more slowly.',
  'mailbox-full': "The recipient's mailbox is full. Only the recipient can free space.",
  'unknown-user': '{domain} does not know this address; check the spelling.',
  tls: 'TLS is required and failed; one of the two servers has to fix its certificate or settings.',
  authentication:
    '{domain} could not authenticate the sender: check SPF, DKIM and DMARC of the sending domain (check_dns_record).',
  'too-large': 'The message is too large for {domain}; send less, or a link.',
  content: '{domain} rejects the content: change the text, links or attachments, and send it again.',
  'no-route': 'No route to {domain}: its mail servers have no usable address.',
  ramp: 'Not tried yet: the mail servers of {domain} do not know this server, so they get little mail at first, and more each day. Set a smarthost for the rest, or MAILSTEAD_SENDING_RAMP=off if the address of this server is known.',
  interrupted:
    'The connection was lost. If that was at the very end, the message may have been delivered and may arrive twice.',
  unknown: '{domain} gave no known reason: read its reply.',
};

/** Explains why a recipient has not received a message yet, and what to do. The remote reply is a separate field. */
export function explain(row: QueuedRow): string {
  if (row.state === 1 && row.hold_reason === FROZEN) {
    return `Held: ${FROZEN}. It is sent when the organization works again, and can be cancelled.`;
  }
  if (row.state === 1 && row.hold_reason?.startsWith(PAUSED) === true) return `Held: ${row.hold_reason}. ${RESUME}`;
  if (row.state === 1) {
    return `Held: ${row.hold_reason ?? 'no reason was given'}. Release it to send it, or cancel it.`;
  }
  if (row.attempts === 0) return 'Not attempted yet.';
  const tries = `${row.attempts} ${row.attempts === 1 ? 'attempt' : 'attempts'} so far`;
  if (row.last_text === null)
    return `${tries}; the last one is in progress or was interrupted. It is retried automatically.`;
  const kind = classifyReply({ status: row.last_status ?? '', text: row.last_text });
  const meaning = MEANINGS[kind].replaceAll('{domain}', row.domain);
  return `${meaning} ${tries}. It is retried automatically.`;
}
