import { z } from 'zod';
import { noteExposure, rowsOf } from '../../reading/exposure.ts';
import { MsgSummary } from '../../reading/shown.ts';
import { summaries } from '../../reading/summary.ts';
import { newestNumber, numberOf } from '../../waiting/arrival-queries.ts';
import { type Place, placeAfter, WINDOW } from '../../waiting/cursor.ts';
import { lookBehind, type Looked } from '../../waiting/look.ts';
import { wantedTest } from '../../waiting/wanted.ts';
import { type Call, operation } from '../operation.ts';
import { Line } from '../schemas.ts';
import type { Mailbox } from '../scope.ts';
import { InMailbox, namedMailbox } from '../reading/which.ts';
import { mailboxGone, waitFor } from './pause.ts';

/** Its form is not for the wire: what is no cursor is refused in words. */
export const Since = Line(1, 300).optional();
export const Timeout = z.number().int().min(0).max(300).default(25).describe('over 50 only with a progressToken');

export const waitForEmail = operation({
  name: 'wait_for_email',
  title: 'Wait for mail',
  toolset: 'mail',
  core: true,
  reach: 'mailbox',
  action: 'mail_read',
  untrusted: true,
  streams: true,
  description:
    'Waits until mail comes. Pass the cursor of each answer on as since: nothing is missed, nothing told twice. Mail in Junk is only counted. Changes nothing.',
  hints: { readOnly: true, openWorld: true },
  input: z.strictObject({
    ...InMailbox,
    from: Line(1, 320).optional().describe('address or domain'),
    subjectContains: Line(1, 200).optional(),
    toPlus: Line(1, 64).optional().describe('tag in me+tag@'),
    since: Since.describe('cursor; default: now'),
    timeoutSeconds: Timeout,
    limit: z.number().int().min(1).max(20).default(1),
  }),
  output: z.object({
    matched: z.boolean(),
    timedOut: z.boolean(),
    messages: z.array(MsgSummary),
    inJunk: z.number().describe('messages that fit and were put into Junk'),
    cursor: z.string(),
  }),
  rest: { method: 'GET', path: '/api/email/mailboxes/:mailbox/wait', query: { timeout: 'timeoutSeconds' } },
  async run(call, { mailbox, since, timeoutSeconds, limit, ...wanted }) {
    const box = await namedMailbox(call, mailbox);
    const place = await placeNamed(call, box, since);
    const isWanted = wantedTest(wanted);
    const junk = new Set<number>();
    const fits = ({ known, junk: isJunk }: Looked['found'][number]): boolean => {
      const wants = isWanted(known);
      if (wants && isJunk) junk.add(known.row.id);
      return wants && !isJunk;
    };
    const { look, seen } = looker(call, box, place, { limit, fits });
    const { found = [], over } = await waitFor(call, box.id, timeoutSeconds, look);
    const ids = found.map(({ known }) => known.row.id);
    await noteExposure(call, rowsOf(ids));
    const messages = await summaries(call, box, ids);
    return {
      matched: messages.length > 0,
      timedOut: over && messages.length === 0,
      messages,
      inJunk: junk.size,
      cursor: call.waits.cursors.write(placeAfter(place, ids.map(numberOf), seen())),
    };
  },
});

/** The place that a cursor names; without one, behind everything that is there. */
export async function placeNamed(call: Call, box: Mailbox, since: string | undefined): Promise<Place> {
  const newest = (await call.store.read(newestNumber, { account: box.id })) ?? mailboxGone();
  return since === undefined
    ? { account: box.id, done: newest, told: [] }
    : call.waits.cursors.read(since, box.id, newest);
}

/** Looks behind a place, again and again: at what is new, and where nothing is at what may have been moved. */
export function looker(
  call: Call,
  box: Mailbox,
  place: Place,
  how: Pick<Parameters<typeof lookBehind>[3], 'limit' | 'fits'>,
): { look: () => Promise<Looked['found'] | undefined>; seen: () => number } {
  let seen = place.done;
  const lookFrom = async (from: number): Promise<Looked> =>
    (await lookBehind(call.store, box, place, { ...how, from })) ?? mailboxGone();
  const look = async (): Promise<Looked['found'] | undefined> => {
    let looked = await lookFrom(seen);
    if (looked.found.length === 0 && looked.seen === seen) looked = await lookFrom(seen - WINDOW);
    seen = Math.max(seen, looked.seen);
    return looked.found.length === 0 ? undefined : looked.found;
  };
  return { look, seen: () => seen };
}
