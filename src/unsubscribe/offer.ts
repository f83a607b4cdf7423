import { readAuthenticationResults } from '../../mail/auth/results-reader.ts';
import { colonList, readTags } from '../../mail/auth/tag-list.ts';
import { type Field, readFields, unfold } from '../../mail/message/header.ts';

const MAX_ADDRESSES = 10;
const MAX_ADDRESS = 2000;

/**
 * The way to unsubscribe that a message offers. `one-click`: a signature that passed covers the address and the promise
 * that a request suffices (RFC 8058 4). `mailto` and `link`: the reader decides, as anybody may have written them.
 */
export type UnsubscribeOffer =
  | { kind: 'one-click'; url: string }
  | { kind: 'mailto'; href: string }
  | { kind: 'link'; url: string }
  | { kind: 'none' };

/**
 * Reads the offer of a message. `trace`: what this server wrote before the message, with its Authentication-Results;
 * `header`: the header as it came. Linear.
 */
export function unsubscribeOffer(trace: string, header: string): UnsubscribeOffer {
  const fields = readFields(header);
  const lists = fields.filter(({ name }) => name === 'list-unsubscribe');
  const addresses = lists.length === 1 ? addressesIn(unfold(lists[0]?.value ?? '')) : [];
  const url = addresses.find((one) => /^https:\/\//i.test(one));
  if (url !== undefined && hasPromise(fields) && isSigned(trace, fields)) return { kind: 'one-click', url };
  const href = addresses.find((one) => /^mailto:/i.test(one));
  if (href !== undefined) return { kind: 'mailto', href };
  const link = addresses.find((one) => /^https?:\/\//i.test(one));
  return link === undefined ? { kind: 'none' } : { kind: 'link', url: link };
}

/** Addresses in angle brackets. RFC 2369 2. */
function addressesIn(value: string): string[] {
  return value
    .split('<')
    .slice(1, 1 + MAX_ADDRESSES)
    .flatMap((piece) => {
      const end = piece.indexOf('>');
      const text = piece.slice(0, Math.max(0, end)).replaceAll(/\s/g, '');
      return end < 0 || text.length > MAX_ADDRESS || !URL.canParse(text) ? [] : [text];
    });
}

/** One List-Unsubscribe-Post with its only value. RFC 8058 3.1. */
function hasPromise(fields: readonly Field[]): boolean {
  const posts = fields.filter(({ name }) => name === 'list-unsubscribe-post');
  return posts.length === 1 && unfold(posts[0]?.value ?? '').toLowerCase() === 'list-unsubscribe=one-click';
}

/**
 * True when a signature that passed covers both fields. Somebody who sends a signed message on may add a signature field of
 * the same signer that covers more and does not pass: all fields of the signer have to cover both.
 */
function isSigned(trace: string, fields: readonly Field[]): boolean {
  const signatures = fields
    .filter(({ name }) => name === 'dkim-signature')
    .map(({ value }) => {
      const tags = readTags(value);
      const covered = colonList(tags?.get('h')?.value ?? '').map((name) => name.toLowerCase());
      const coversBoth = covered.includes('list-unsubscribe') && covered.includes('list-unsubscribe-post');
      return { signer: signerOf(tags?.get('d')?.value ?? '', tags?.get('s')?.value ?? ''), coversBoth };
    });
  return passedSigners(trace).some((passed) => {
    const own = signatures.filter(({ signer }) => signer === passed);
    return own.length > 0 && own.every(({ coversBoth }) => coversBoth);
  });
}

const signerOf = (domain: string, selector: string): string => `${domain} ${selector}`.toLowerCase();

/** Signers whose signature passed when the message came, by domain and selector. */
function passedSigners(trace: string): string[] {
  const [results] = readFields(trace).filter(({ name }) => name === 'authentication-results');
  const value = unfold(results?.value ?? '');
  if (readAuthenticationResults(value) === undefined) return [];
  return value.split(';').flatMap((one) => {
    if (!/^\s*dkim=pass\b/.test(one)) return [];
    const [, domain = ''] = /\bheader\.d=([\w.-]{1,253})/.exec(one) ?? [];
    const [, selector = ''] = /\bheader\.s=([\w.-]{1,253})/.exec(one) ?? [];
    return domain === '' || selector === '' ? [] : [signerOf(domain, selector)];
  });
}
