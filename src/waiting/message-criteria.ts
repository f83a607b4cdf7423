import { addressKey, parseAddress, parseDomain } from '../../mail/message/address.ts';
import { headerForm } from '../../mail/message/header-forms.ts';
import { refuse } from '../core/refusal.ts';
import { addressesOf, type LoadedMessage } from '../reading/summary.ts';

/** Criteria of the awaited message; an omitted one matches all. */
export interface MessageCriteria {
  /** An address, or a domain with its subdomains. */
  from?: string | undefined;
  subjectContains?: string | undefined;
  /** The tag of `me+tag@box.example`. */
  toPlus?: string | undefined;
}

/** Creates a test of messages by their header. */
export function createMessageTest({
  from,
  subjectContains,
  toPlus,
}: MessageCriteria): (known: LoadedMessage) => boolean {
  const isFrom = from === undefined ? undefined : senderTest(from);
  const words = subjectContains === undefined ? undefined : plain(subjectContains);
  const tag = toPlus?.toLowerCase();
  return (known) =>
    (isFrom === undefined || isFrom(authorOf(known) ?? '')) &&
    (words === undefined || plain(subjectTextOf(known)).includes(words)) &&
    (tag === undefined || tagOf(known) === tag);
}

/** Creates a test of sender addresses: equal, or in the domain or a subdomain. */
function senderTest(from: string): (address: string) => boolean {
  const address = parseAddress(from);
  if (address !== undefined) {
    const key = addressKey(address);
    return (author) => author === key;
  }
  const domain = parseDomain(from.replace(/^@/, ''));
  if (domain !== undefined) return (author) => isUnder(author.slice(author.lastIndexOf('@') + 1), domain);
  return refuse('invalid_arguments', 'from is neither an address nor a domain. Pass one of them.', {
    issues: [{ path: 'from', message: 'is neither an address nor a domain' }],
  });
}

/** True when a host is the domain or a subdomain. */
export function isUnder(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** The author's address in canonical form. */
export function authorOf({ envelope }: LoadedMessage): string | undefined {
  return addressesOf(envelope.from)[0]?.address;
}

/** The unsanitized subject: for matching only, never for display. */
export function subjectTextOf({ envelope: { subject } }: LoadedMessage): string {
  const text = subject === undefined ? null : headerForm('Text', subject);
  return typeof text === 'string' ? text : '';
}

/** The tag (subaddress) of the delivery address. */
function tagOf({ row }: LoadedMessage): string | undefined {
  const to = /^Delivered-To: (.+?)\r?$/m.exec(row.trace)?.[1] ?? '';
  const [local = ''] = to.split(/@(?=[^@]*$)/);
  return /\+(.+)$/.exec(local)?.[1]?.toLowerCase();
}

const plain = (text: string): string => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ');
