import { isFreeMail } from './free-mail.ts';
import { networkOf } from './network.ts';
import type { Sample } from './sample.ts';
import { vouchedDomain } from './vouched.ts';

const LONGEST = 320;

/**
 * Under what a sender is remembered: `a:` the author and `d:` its domain where something vouches for them, else `c:` the
 * author that it claims, and `n:` the network that it came from. At providers where everybody has an address the domain
 * says nothing.
 */
export function senderKeys(sample: Pick<Sample, 'author' | 'authentication' | 'peer'>): string[] {
  const domain = vouchedDomain(sample);
  const network = networkOf(sample.peer.ip);
  const author = sample.author === '' ? [] : [`${domain === '' ? 'c' : 'a'}:${sample.author}`];
  const known = domain === '' || isFreeMail(domain) ? [] : [`d:${domain}`];
  return [...author, ...known, ...(network === '' ? [] : [`n:${network}`])].filter((key) => key.length <= LONGEST);
}
