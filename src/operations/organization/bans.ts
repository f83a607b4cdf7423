import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { networkOf } from '../../../mail/guard/network.ts';
import { reasonOf } from '../../../mail/guard/told.ts';
import { listBans, removeBan } from '../../../mail/store/ban.ts';
import { noMailbox } from '../about.ts';
import { operation } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { isoOf, Line, nextCursor, Page, pageStart } from '../schemas.ts';

export const listBansOfBox = operation({
  name: 'list_bans',
  title: 'List networks that are shut out',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  description:
    'For the operator: networks that every door turns away now, what for, how often that happened within a month, and until when. Each time lasts longer: 15 minutes, 1 hour, 6 hours, 1 day. Changes nothing.',
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
        reason: reasonOf(ban),
        since: isoOf(since),
        until: isoOf(until),
      })),
      nextCursor: rows.length > page.limit ? String(shown.at(-1)?.id) : null,
    };
  },
});

export const removeBanOfBox = operation({
  name: 'remove_ban',
  title: 'Let a network in again',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  operatorOnly: true,
  description:
    'For the operator: lifts the ban of an address, if any, and forgets its failed logins. If it goes on it is shut out again. Networks that must never be shut out belong into MAILSTEAD_EXEMPT_NETWORKS.',
  hints: { idempotent: true },
  rule: noMailbox,
  input: z.strictObject({ address: Line(2, 64) }),
  output: z.object({ removed: z.boolean(), network: z.string() }),
  rest: { method: 'DELETE', path: '/api/bans/:address' },
  async run(call, { address }) {
    const network = networkNamed(address);
    const done = await call.change(removeBan, { network }, network);
    call.guard.forgive(network);
    // Else who is let in is still told to wait, for up to a day, with the right password too.
    call.throttle.forgive(network);
    return { removed: done.kind === 'removed', network };
  },
});

/** An address, or the network as the list shows it. */
function networkNamed(text: string): string {
  const ip = text.replace(/\/64$/, '');
  if (ipaddr.isValid(ip) && (ip === text || isIPv6(ip))) return networkOf(ip);
  return refuse('invalid_arguments', 'address: give an IP address, or a network as list_bans shows it.', {
    issues: [{ path: 'address', message: 'is no IP address' }],
  });
}
