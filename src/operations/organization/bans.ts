import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { networkOf } from '../../../mail/guard/network.ts';
import { banReason } from '../../../mail/guard/refusal-text.ts';
import { listBans, removeBan } from '../../../mail/store/limit/ban.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { isoOf, Line, nextCursor, Page, pageStart } from '../../core/schemas.ts';

export const listBansOfBox = operation({
  name: 'list_bans',
  title: 'List blocked networks',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  description:
    'For the operator: networks that all listeners block now, with reason, number of bans within a month, and expiry. Each ban lasts longer: 15 minutes, 1 hour, 6 hours, 1 day. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ ...Page }),
  output: z.object({
    bans: z.array(
      z.object({
        network: z.string(),
        reason: z.string(),
        offence: z.string(),
        count: z.number(),
        times: z.number(),
        since: z.string(),
        until: z.string(),
      }),
    ),
    nextCursor,
  }),
  rest: { method: 'GET', path: '/api/bans' },
  async run({ store, clock }, page) {
    const after = pageStart(page);
    const rows = await store.read(listBans, { after, limit: page.limit + 1, now: clock() });
    const shown = rows.slice(0, page.limit);
    return {
      bans: shown.map(({ id: _, since, until, ...ban }) => ({
        ...ban,
        reason: banReason(ban),
        since: isoOf(since),
        until: isoOf(until),
      })),
      nextCursor: rows.length > page.limit ? String(shown.at(-1)?.id) : null,
    };
  },
});

export const removeBanOfBox = operation({
  name: 'remove_ban',
  title: 'Unblock a network',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  operatorOnly: true,
  description:
    'For the operator: lifts the ban of an address, if any, and clears its failed logins. More failures block it again. Set MAILSTEAD_EXEMPT_NETWORKS for networks that must never be blocked.',
  hints: { idempotent: true },
  rule: noMailboxes,
  input: z.strictObject({ address: Line(2, 64).describe('IP address') }),
  output: z.object({ removed: z.boolean(), network: z.string() }),
  rest: { method: 'DELETE', path: '/api/bans/:address' },
  async run(call, { address }) {
    const network = networkNamed(address);
    const done = await call.change(removeBan, { network }, network);
    call.guard.liftBan(network);
    // Otherwise logins with the right password stay throttled for up to a day.
    call.throttle.clearNetwork(network);
    return { removed: done.kind === 'removed', network };
  },
});

/** Parses an address, or a network as the list shows it. */
function networkNamed(text: string): string {
  const ip = text.replace(/\/64$/, '');
  if (ipaddr.isValid(ip) && (ip === text || isIPv6(ip))) return networkOf(ip);
  return refuse('invalid_arguments', 'address must be an IP address, or a network as list_bans shows it.', {
    issues: [{ path: 'address', message: 'is not an IP address' }],
  });
}
