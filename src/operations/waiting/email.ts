import { z } from 'zod';
import { recordTaint, taintRows } from '../../reading/read-record.ts';
import { MsgSummary } from '../../reading/summary-schema.ts';
import { summaries } from '../../reading/summary.ts';
import { newestNumber, numberOf, scanArrivals, type ArrivalScan } from '../../waiting/arrival-queries.ts';
import { advancePosition, WINDOW } from '../../waiting/cursor.ts';
import { createMessageTest } from '../../waiting/message-criteria.ts';
import { type Call, operation } from '../../core/operation.ts';
import { Line, PageSize } from '../../core/schemas.ts';
import type { Mailbox } from '../scope.ts';
import { InMailbox, namedMailbox } from '../reading/mailbox-arguments.ts';
import { mailboxGone, waitFor } from './pause.ts';
import type { MailboxPosition } from '../../core/mail-waits.ts';

/** Any text: an invalid cursor is refused with an explanation. */
export const Since = Line(1, 300).optional();
export const TIMEOUT = 'Over 50 only with a progressToken';
export const Timeout = z.number().int().min(0).max(300).default(25).describe(TIMEOUT);

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
    'Waits until mail arrives. Pass the cursor of each answer as since: nothing is missed or repeated. Mail in Junk is only counted. Changes nothing.',
  hints: { readOnly: true, openWorld: true },
  input: z.strictObject({
    ...InMailbox,
    from: Line(1, 320).optional().describe('Address or domain of the author'),
    subjectContains: Line(1, 200).describe('Part of the subject').optional(),
    toPlus: Line(1, 64).optional().describe('Tag in me+tag@'),
    since: Since.describe('Cursor; default: now'),
    timeoutSeconds: Timeout,
    limit: PageSize(20, 1),
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
    const isWanted = createMessageTest(wanted);
    const junk = new Set<number>();
    const fits = ({ known, junk: isJunk }: ArrivalScan['found'][number]): boolean => {
      const wants = isWanted(known);
      if (wants && isJunk) junk.add(known.row.id);
      return wants && !isJunk;
    };
    const { look, seen } = looker(call, box, place, { limit, fits });
    const { found = [], over } = await waitFor(call, box.id, timeoutSeconds, look);
    const ids = found.map(({ known }) => known.row.id);
    await recordTaint(call, taintRows(ids));
    const messages = await summaries(call, box, ids);
    return {
      matched: messages.length > 0,
      timedOut: over && messages.length === 0,
      messages,
      inJunk: junk.size,
      cursor: call.waits.cursors.write(advancePosition(place, ids.map(numberOf), seen())),
    };
  },
});

/** Returns the position of a cursor; default: after everything present. */
export async function placeNamed(call: Call, box: Mailbox, since: string | undefined): Promise<MailboxPosition> {
  const newest = (await call.store.read(newestNumber, { account: box.id })) ?? mailboxGone();
  return since === undefined
    ? { account: box.id, done: newest, reported: [] }
    : call.waits.cursors.read(since, box.id, newest);
}

/** Looks for messages after a position; if there is none, also for ones moved in. */
export function looker(
  call: Call,
  box: Mailbox,
  place: MailboxPosition,
  how: Pick<Parameters<typeof scanArrivals>[3], 'limit' | 'fits'>,
): { look: () => Promise<ArrivalScan['found'] | undefined>; seen: () => number } {
  let seen = place.done;
  const lookFrom = async (from: number): Promise<ArrivalScan> =>
    (await scanArrivals(call.store, box, place, { ...how, from })) ?? mailboxGone();
  const look = async (): Promise<ArrivalScan['found'] | undefined> => {
    let looked = await lookFrom(seen);
    if (looked.found.length === 0 && looked.seen === seen) looked = await lookFrom(seen - WINDOW);
    seen = Math.max(seen, looked.seen);
    return looked.found.length === 0 ? undefined : looked.found;
  };
  return { look, seen: () => seen };
}
