import { createStsFetcher } from '../../mail/relay/tls-policy/sts-fetch.ts';
import type { AreaContext } from '../core/area-context.ts';
import { mayReach } from '../core/networks.ts';

/** Timeout of an MTA-STS policy fetch, ms: a caller waits for the report. */
const MAX_FETCH_MS = 10_000;

/** Fetches MTA-STS policies for a report. */
export function stsFetcherOf({ lookNow, settings }: Pick<AreaContext, 'lookNow' | 'settings'>) {
  return createStsFetcher({
    resolver: lookNow,
    allowPrivate: (ip, port) => mayReach(settings.allowPrivateNetworks, ip, port),
    timeoutMs: MAX_FETCH_MS,
  });
}
