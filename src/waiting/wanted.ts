import { addressKey, parseAddress, parseDomain } from '../../mail/message/address.ts';
import { headerForm } from '../../mail/message/header-forms.ts';
import { refuse } from '../operations/refusal.ts';
import { addressesOf, type Known } from '../reading/summary.ts';

/** Which mail somebody waits for; what is left out lets all through. */
export interface Wanted {
  /** An address, or a domain with all below it. */
  from?: string | undefined;
  subjectContains?: string | undefined;
  /** The tag of `me+tag@box.example`. */
  toPlus?: string | undefined;
}

/** A test for messages by what their envelopes say. */
export function wantedTest({ from, subjectContains, toPlus }: Wanted): (known: Known) => boolean {
  const isFrom = from === undefined ? undefined : senderTest(from);
  const words = subjectContains === undefined ? undefined : plain(subjectContains);
  const tag = toPlus?.toLowerCase();
  return (known) =>
    (isFrom === undefined || isFrom(authorOf(known) ?? '')) &&
    (words === undefined || plain(subjectTextOf(known)).includes(words)) &&
    (tag === undefined || tagOf(known) === tag);
}

/** Whether an address is this one, or of this domain or below it. */
function senderTest(from: string): (address: string) => boolean {
  const address = parseAddress(from);
  if (address !== undefined) {
    const key = addressKey(address);
    return (author) => author === key;
  }
  const domain = parseDomain(from.replace(/^@/, ''));
  if (domain !== undefined) return (author) => isUnder(author.slice(author.lastIndexOf('@') + 1), domain);
  return refuse('invalid_arguments', 'from is neither an address nor a domain.', {
    issues: [{ path: 'from', message: 'is neither an address nor a domain' }],
  });
}

/** Whether a host is this domain or below it. */
export function isUnder(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** The address of the author, as it is compared. */
export function authorOf({ envelope }: Known): string | undefined {
  return addressesOf(envelope.from)[0]?.address;
}

/** The subject as the sender wrote it: to be looked through, never to be shown. */
export function subjectTextOf({ envelope: { subject } }: Known): string {
  const text = subject === undefined ? null : headerForm('Text', subject);
  return typeof text === 'string' ? text : '';
}

/** The tag of the address that a message was delivered to. */
function tagOf({ row }: Known): string | undefined {
  const to = /^Delivered-To: (.+?)\r?$/m.exec(row.trace)?.[1] ?? '';
  const [local = ''] = to.split(/@(?=[^@]*$)/);
  return /\+(.+)$/.exec(local)?.[1]?.toLowerCase();
}

const plain = (text: string): string => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ');
