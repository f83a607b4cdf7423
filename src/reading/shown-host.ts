import { registrable } from '../../mail/policy/registrable.ts';

/** Longer names of hosts are shown by their end. No registered name is as long. */
const MOST = 100;
const CUT = '\u2026';

/**
 * A host as it is shown. Who it belongs to stands at its end, so that is what stays of a long one; the sign in front, which
 * no host has, says that there is more, and a dot behind it that whole labels are left.
 */
export function shownHost(host: string): string {
  if (host.length <= MOST) return host;
  const end = host.slice(host.length - MOST + CUT.length);
  const dot = end.indexOf('.');
  const labels = dot < 0 ? '' : end.slice(dot);
  return `${CUT}${labels.length > registrable(host).length ? labels : end}`;
}
