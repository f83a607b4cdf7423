import { z } from 'zod';
import { accountInfo } from '../../../mail/store/account/account.ts';
import { emailFindKey, findTraces } from '../../../mail/store/journal/journal-index.ts';
import { journalEnds, lineOfArrival } from '../../../mail/store/journal/journal-tail.ts';
import { arrivalsAfter, newestNumber, numberOf, emailRowId } from '../../waiting/arrival-queries.ts';
import { WINDOW, wasReported, refuseCursor } from '../../waiting/cursor.ts';
import { type Call, operation } from '../../core/operation.ts';
import { InMailbox, namedMailbox } from '../reading/mailbox-arguments.ts';
import { allowedAccounts } from '../scope.ts';
import { indexNow } from '../trace/find.ts';
import { Since } from './email.ts';
import type { MailboxPosition } from '../../core/mail-waits.ts';

const NOWHERE: MailboxPosition = { account: 0, done: 0, reported: [] };

/** Maximum timelines searched for the one of a message: they are found by a hash. */
const MAX_TRACES = 10;

/** Resolves the filter and start of an event stream. A part of `GET /api/events`, not a tool. */
export const followEvents = operation({
  name: 'follow_events',
  title: 'Follow what happens',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'mail_read',
  description: 'Returns the accounts and the start position of an event stream. Changes nothing.',
  hints: { readOnly: true },
  input: z.strictObject({ ...InMailbox, since: Since.describe('Cursor; default: now') }),
  output: z.object({
    tenant: z.number(),
    accounts: z.array(z.number()).nullable(),
    line: z.number(),
    place: z.object({ account: z.number(), done: z.number(), reported: z.array(z.tuple([z.number(), z.number()])) }),
    forgotten: z.boolean(),
  }),
  async run(call, { mailbox, since }) {
    const accounts = mailbox === undefined ? await allowedAccounts(call) : [(await namedMailbox(call, mailbox)).id];
    const { place, ...start } = await startOf(call, accounts, since);
    const reported = place.reported.map(([first, last]): [number, number] => [first, last]);
    return { tenant: call.tenant, accounts, ...start, place: { ...place, reported } };
  },
});

interface Start {
  /** Reports journal lines after this one. */
  line: number;
  /** Messages after the position that were already reported. */
  place: MailboxPosition;
  /** True: some events since then are no longer stored. */
  forgotten: boolean;
}

async function startOf(call: Call, accounts: number[] | null, since: string | undefined): Promise<Start> {
  const { oldest, newest } = await call.store.read(journalEnds, undefined);
  if (since === undefined) return { line: newest, place: NOWHERE, forgotten: false };
  const { line, ...place } = call.waits.cursors.position(since);
  const isOwn = await covers(call, accounts, place.account);
  if (line === undefined) {
    if (!isOwn) refuseCursor('is the cursor of a mailbox outside this stream');
    const first = await firstBehind(call, since, place.account);
    if (first === undefined) return { line: newest, place, forgotten: false };
    const found = await lineOf(call, place.account, first);
    return { line: (found ?? oldest) - 1, place, forgotten: found === undefined };
  }
  if (line > newest) refuseCursor('is ahead of this server, which may have been restored from a backup');
  return { line, place: isOwn ? place : NOWHERE, forgotten: line + 1 < oldest };
}

async function covers({ store, tenant }: Call, accounts: number[] | null, account: number): Promise<boolean> {
  if (accounts !== null) return accounts.includes(account);
  return (await store.read(accountInfo, { tenant, id: account })) !== undefined;
}

/** Returns the first message after a wait's cursor that was not reported. */
async function firstBehind({ store, waits }: Call, since: string, account: number): Promise<number | undefined> {
  const newest = (await store.read(newestNumber, { account })) ?? 0;
  const place = waits.cursors.read(since, account, newest);
  const request = { account, row: emailRowId(account, place.done), limit: WINDOW + 1 };
  return (await store.read(arrivalsAfter, request)).find(({ id }) => !wasReported(place, numberOf(id)))?.id;
}

/** Returns the journal line of a message's arrival; undefined: purged. */
async function lineOf(call: Call, account: number, email: number): Promise<number | undefined> {
  await indexNow(call);
  const find = { tenant: call.tenant, accounts: [account], key: emailFindKey(email), since: 0, limit: MAX_TRACES };
  for (const { trace } of await call.store.scan(findTraces, find)) {
    const line = await call.store.read(lineOfArrival, { trace, account, email });
    if (line !== undefined) return line;
  }
  return undefined;
}
