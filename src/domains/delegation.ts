import { keyZone, ownServer } from './records.ts';
import type { Delegation } from './queries.ts';

/**
 * How these name servers lead to the claim `id` of a domain. The box's own name counts for nothing beside the name of
 * another claim: whoever set that one meant it.
 */
export function delegationBy(names: readonly string[], id: number, hostname: string): Delegation {
  const box = names.includes(hostname);
  if (names.includes(ownServer(id, hostname))) return box ? 'both' : 'own';
  return box && !names.some((one) => one.endsWith(`.ns.${keyZone(hostname)}`)) ? 'box' : 'none';
}

/** Whether any of these names is this box. */
export function namesBox(names: readonly string[], hostname: string): boolean {
  return names.some((one) => one === hostname || one.endsWith(`.ns.${keyZone(hostname)}`));
}

/** The names under which the box serves a claim, so that a zone and the one above it say the same. RFC 1034 4.2.2. */
export function serverNames(delegation: Delegation, id: number, hostname: string): string[] {
  const names = { none: [], box: [hostname], own: [ownServer(id, hostname)] };
  return delegation === 'both' ? [...names.own, ...names.box] : names[delegation];
}
