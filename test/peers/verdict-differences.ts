import type { FilteredMail } from '../support/filtered-mail.ts';

/** Why another verifier says something else about a mail, and who: `of` is what they differ in. */
interface Difference {
  why: string;
  of: 'dkim' | 'dmarc';
  peer: 'dkimpy' | 'opendkim' | 'authheaders';
  applies(mail: FilteredMail): boolean;
}

const has =
  (...traits: string[]) =>
  (mail: FilteredMail) =>
    traits.some((trait) => mail.traits.join(' | ').includes(trait));

/** Everything in which verifiers may differ; what none of these applies to is a fault. */
const DIFFERENCES: readonly Difference[] = [
  {
    of: 'dkim',
    peer: 'dkimpy',
    why: 'RFC 8301 3.1: SHA-1 is not valid any more; dkimpy takes it',
    applies: has(', sha1, '),
  },
  {
    of: 'dkim',
    peer: 'dkimpy',
    why: 'RFC 6376 8.2: a signature that leaves the end of the body open is `policy` here; 3.5: `l=` is not longer than the body',
    applies: has('of a part of the body', 'of no body', 'of more than the body'),
  },
  {
    of: 'dkim',
    peer: 'dkimpy',
    why: 'RFC 6376 3.6.1: `h=` of a key names the hashes that it is for; dkimpy does not look',
    applies: has('sha1, '),
  },
  {
    of: 'dkim',
    peer: 'dkimpy',
    why: 'RFC 6376 3.6.1: the version of a key record comes first; dkimpy takes it anywhere',
    applies: has('late, '),
  },
  {
    of: 'dkim',
    peer: 'dkimpy',
    why: 'dkimpy gives no verdict on a message with two From fields; here its DMARC result is `permerror`, and it is refused',
    applies: has('a second From'),
  },
  {
    of: 'dkim',
    peer: 'opendkim',
    why: 'RFC 8301 3.1: SHA-1 is not valid any more; opendkim as Debian builds it takes it',
    applies: has(', sha1, '),
  },
  {
    of: 'dkim',
    peer: 'opendkim',
    why: 'RFC 6376 8.2: a signature that leaves the end of the body open is `policy` here; opendkim takes it',
    applies: has('of a part of the body', 'of no body'),
  },
  {
    of: 'dkim',
    peer: 'opendkim',
    why: 'RFC 6376 3.6.1 asks for an RSAPublicKey and shows SubjectPublicKeyInfo: opendkim reads only what is shown',
    applies: has('pkcs1, '),
  },
  {
    of: 'dkim',
    peer: 'opendkim',
    why: 'RFC 6376 3.6.1: the version of a key record comes first; opendkim takes it anywhere',
    applies: has('late, '),
  },
  {
    of: 'dkim',
    peer: 'opendkim',
    why: 'RFC 5322 3.6: opendkim calls a message with a field twice a syntax error; here two From fields are refused, and two Subject fields are what was not signed twice',
    applies: has('a second From', 'a second Subject'),
  },
  {
    of: 'dmarc',
    peer: 'authheaders',
    why: 'RFC 9989 asks for one author; authheaders takes the strictest of all',
    applies: has('a second From'),
  },
  {
    of: 'dmarc',
    peer: 'authheaders',
    why: 'RFC 9989 4.7: `t=y` counts one step less; authheaders knows the tags of RFC 7489',
    applies: ({ author }) => author.endsWith('testingpolicy.com'),
  },
  {
    of: 'dmarc',
    peer: 'authheaders',
    why: 'authheaders applies `sp=` to the very domain that publishes it',
    applies: ({ author }) => author === 'belowpolicy.com',
  },
  {
    of: 'dmarc',
    peer: 'authheaders',
    why: 'RFC 9989 4.10.1: a record whose policy cannot be read is none; authheaders gives the word back',
    applies: ({ author }) => author.endsWith('unreadpolicy.com'),
  },
];

/** Why this may differ; undefined where it may not. */
export function explained(mail: FilteredMail, of: Difference['of'], peer: Difference['peer']): string | undefined {
  return DIFFERENCES.find((one) => one.of === of && one.peer === peer && one.applies(mail))?.why;
}

/** All reasons that are given for these peers. */
export function reasons(...peers: Difference['peer'][]): string[] {
  return DIFFERENCES.filter(({ peer }) => peers.includes(peer)).map(({ why }) => why);
}
