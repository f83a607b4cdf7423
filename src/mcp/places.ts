import type { World } from '../operations/world.ts';
import { isLoopback } from '../../mail/guard/network.ts';

/** Names of this machine by which a browser on it may mean it. */
const LOCAL = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d+)?$/i;

/**
 * Whether Host and Origin are ones by which this box is meant. A name that an attacker points at a private address (DNS
 * rebinding) is none, and neither is a page of somebody else.
 */
export function meansThisBox(
  { settings, baseUrl }: World,
  { host, origin }: { host: string | undefined; origin: string | undefined },
): boolean {
  const own = new URL(baseUrl());
  const local = settings.listen.every(isLoopback);
  const hosts = [own.host, settings.hostname];
  const known = host !== undefined && (hosts.includes(host.toLowerCase()) || (local && LOCAL.test(host)));
  if (!known) return false;
  if (origin === undefined || origin === own.origin) return true;
  return local && /^https?:\/\//.test(origin) && LOCAL.test(origin.replace(/^https?:\/\//, ''));
}
