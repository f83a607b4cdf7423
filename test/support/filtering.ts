import type { AuthenticationInput } from '../../mail/auth/authenticate.ts';
import type { Authentication } from '../../mail/auth/authentication.ts';
import type { FilterResult } from '../../mail/filter/mail-filter.ts';
import { octetsOf } from '../../mail/filter/octets.ts';
import type { InboundFilter } from '../../mail/receiver/context.ts';

/** A filter without checks that only authenticates the author of a message. */
export function filteringBy(authenticate: (mail: AuthenticationInput) => Promise<Authentication>): InboundFilter {
  return {
    checks: false,
    network: true,
    slows: () => false,
    filter: {
      async filter({ octets, peer, sender }): Promise<FilterResult> {
        const authentication = await authenticate({ ...peer, sender, chunks: () => octetsOf(octets) });
        return { authentication, author: { kind: 'pass', why: '' }, findings: [], senders: [], accounts: [] };
      },
    },
  };
}
