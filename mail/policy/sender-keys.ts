import { isFreeMailProvider } from './free-mail.ts';
import { senderNetwork } from './sender-network.ts';
import type { Sample } from './sample.ts';
import { authenticatedDomain } from './author-proof.ts';

const MAX_KEY = 320;

/**
 * Lists the reputation keys of a sender: `a:` author and `d:` domain if they are authenticated, else `c:` the claimed
 * author; and `n:` the client network. Free mail providers have no `d:` key, since anybody can have an address there.
 */
export function senderKeys(sample: Pick<Sample, 'author' | 'authentication' | 'peer'>): string[] {
  const domain = authenticatedDomain(sample);
  const network = senderNetwork(sample.peer.ip);
  const author = sample.author === '' ? [] : [`${domain === '' ? 'c' : 'a'}:${sample.author}`];
  const domainKey = domain === '' || isFreeMailProvider(domain) ? [] : [`d:${domain}`];
  return [...author, ...domainKey, ...(network === '' ? [] : [`n:${network}`])].filter((key) => key.length <= MAX_KEY);
}
