import { jmapId } from '../ids.ts';
import type { PushSubscription } from '../../store/push-subscription.ts';

/** What a client may read; `url` and `keys` it may only write. RFC 8620 7.2.1. */
export const READABLE = ['id', 'deviceClientId', 'verificationCode', 'expires', 'types'] as const;
export const SECRET = ['url', 'keys'];

/** A subscription as its owner sees it. The code is shown once the client has shown to know it. */
export function shownSubscription({ id, device, code, verified, expiresAt, types }: PushSubscription) {
  return {
    id: jmapId('pushSubscription', id),
    deviceClientId: device,
    verificationCode: verified ? code : null,
    expires: utc(expiresAt),
    types,
  };
}

/** A UTCDate. RFC 8620 1.4. */
export function utc(at: number): string {
  return new Date(Math.floor(at / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}
