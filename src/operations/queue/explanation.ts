import { classOf, type ReplyClass } from '../../../mail/relay/reply-class.ts';
import { PAUSED } from '../../../mail/store/paused-sender.ts';
import { FROZEN } from '../../organizations/commands.ts';

/** What to do about mail of a sender that is paused. */
export const RESUME = 'resume_sender lets all of its mail go; this can be cancelled before.';

/** What a queue row knows of why it waits. */
export interface Waiting {
  /** 0 due, 1 held. */
  state: number;
  held_because: string | null;
  domain: string;
  attempts: number;
  last_status: string | null;
  last_text: string | null;
}

/** For each kind of answer what it means and what to do; `{domain}` is who gave it. */
const MEANINGS: Readonly<Record<ReplyClass, string>> = {
  unreachable:
    'No mail server of {domain} could be reached. If none anywhere can be, the network of this server may block port 25: set a route by a smarthost.',
  dns: 'The DNS gave no answer about {domain}. Nothing is to be done unless it lasts; then look at the resolver of this server.',
  login:
    'The smarthost refuses the user name or password of the route: set the route again with the right ones. Nothing is lost meanwhile.',
  greylisted: '{domain} puts off mail from servers that it does not know yet (greylisting); a later attempt is taken.',
  blocked:
    '{domain} refuses this server for the reputation of its address. Ask the list that it names to remove the address, or set a route by a smarthost.',
  'rate-limited': '{domain} takes no more mail from this server for the moment; it is sent more slowly.',
  'mailbox-full': 'The mailbox of the recipient is full. Only the recipient can make room.',
  'unknown-user': '{domain} does not know this address; look whether it is written right.',
  tls: 'TLS is demanded and could not be set up as demanded; one of the two servers has to mend its certificate or settings.',
  authentication:
    '{domain} could not tell that the mail is from its sender: look whether SPF, DKIM and DMARC of the sending domain are published (check_dns_record).',
  'too-large': 'The message is too large for {domain}; send less, or a link.',
  content: '{domain} does not want what is in the message: change its text, links or attachments, and send it again.',
  'no-route': 'There is no way to {domain}: its mail servers have no address that this server may use.',
  interrupted:
    'The connection broke off. When that was at the very end the message may have arrived all the same, and arrives twice then.',
  unknown: '{domain} gave no reason that is known here; its own words say the most.',
};

/** Why a recipient has not got a message yet, and what to do, in a few sentences of ours: what was answered stands beside them. */
export function explain(row: Waiting): string {
  if (row.state === 1 && row.held_because === FROZEN) {
    return `It is held: ${FROZEN}. It goes on when that works again, and can be cancelled.`;
  }
  if (row.state === 1 && row.held_because?.startsWith(PAUSED) === true)
    return `It is held: ${row.held_because}. ${RESUME}`;
  if (row.state === 1) {
    return `It is held: ${row.held_because ?? 'no reason was given'}. Release it to send it, or cancel it.`;
  }
  if (row.attempts === 0) return 'It has not been tried yet.';
  const tries = `${row.attempts} ${row.attempts === 1 ? 'attempt' : 'attempts'} so far`;
  if (row.last_text === null)
    return `${tries}; the last one is under way, or was cut short. It is tried again by itself.`;
  const kind = classOf({ status: row.last_status ?? '', text: row.last_text });
  const meaning = MEANINGS[kind].replaceAll('{domain}', row.domain);
  return `${meaning} ${tries}. It is tried again by itself.`;
}
