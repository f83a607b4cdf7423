import { z } from 'zod';
import { accountOf } from '../../../mail/store/account.ts';
import { emailFindKey, findTraces } from '../../../mail/store/journal-index.ts';
import { journalEnds, lineOfArrival } from '../../../mail/store/journal-tail.ts';
import { arrivalsBehind, newestNumber, numberOf, rowOf } from '../../waiting/arrival-queries.ts';
import { type Place, WINDOW, wasTold, wrong } from '../../waiting/cursor.ts';
import { type Call, operation } from '../operation.ts';
import { InMailbox, namedMailbox } from '../reading/which.ts';
import { allowedAccounts } from '../scope.ts';
import { indexNow } from '../trace/find.ts';
import { Since } from './email.ts';

const NOWHERE: Place = { account: 0, done: 0, told: [] };

/** Stories that are looked at for the one that a message is in: what they are found by is a hash. */
const MOST_TRACES = 10;

/** Of what a stream of events tells, and from where on. A part of `GET /api/events`, and no tool. */
export const followEvents = operation({
  name: 'follow_events',
  title: 'Follow what happens',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'mail_read',
  description: 'Answers what a stream of events may tell, and from where on. Changes nothing.',
  hints: { readOnly: true },
  input: z.strictObject({ ...InMailbox, since: Since }),
  output: z.object({
    tenant: z.number(),
    accounts: z.array(z.number()).nullable(),
    line: z.number(),
    place: z.object({ account: z.number(), done: z.number(), told: z.array(z.tuple([z.number(), z.number()])) }),
    forgotten: z.boolean(),
  }),
  async run(call, { mailbox, since }) {
    const accounts = mailbox === undefined ? await allowedAccounts(call) : [(await namedMailbox(call, mailbox)).id];
    const { place, ...start } = await startOf(call, accounts, since);
    const told = place.told.map(([first, last]): [number, number] => [first, last]);
    return { tenant: call.tenant, accounts, ...start, place: { ...place, told } };
  },
});

interface Start {
  /** What is behind this line of the journal is told. */
  line: number;
  /** What of a mailbox was told although it is behind it. */
  place: Place;
  /** Of what happened since, some is not known of any more. */
  forgotten: boolean;
}

async function startOf(call: Call, accounts: number[] | null, since: string | undefined): Promise<Start> {
  const { oldest, newest } = await call.store.read(journalEnds, undefined);
  if (since === undefined) return { line: newest, place: NOWHERE, forgotten: false };
  const { line, ...place } = call.waits.cursors.position(since);
  const isOwn = await covers(call, accounts, place.account);
  if (line === undefined) {
    if (!isOwn) wrong('is a cursor of a mailbox that this stream does not tell of');
    const first = await firstBehind(call, since, place.account);
    if (first === undefined) return { line: newest, place, forgotten: false };
    const found = await lineOf(call, place.account, first);
    return { line: (found ?? oldest) - 1, place, forgotten: found === undefined };
  }
  if (line > newest) wrong('is ahead of this server, which may have been restored from a copy');
  return { line, place: isOwn ? place : NOWHERE, forgotten: line + 1 < oldest };
}

async function covers({ store, tenant }: Call, accounts: number[] | null, account: number): Promise<boolean> {
  if (accounts !== null) return accounts.includes(account);
  return (await store.read(accountOf, { tenant, id: account })) !== undefined;
}

/** The first message behind a cursor of a wait for mail that was not told. */
async function firstBehind({ store, waits }: Call, since: string, account: number): Promise<number | undefined> {
  const newest = (await store.read(newestNumber, { account })) ?? 0;
  const place = waits.cursors.read(since, account, newest);
  const asked = { account, row: rowOf(account, place.done), limit: WINDOW + 1 };
  return (await store.read(arrivalsBehind, asked)).find(({ id }) => !wasTold(place, numberOf(id)))?.id;
}

/** The line in which a message came; undefined: it is too old to have one. */
async function lineOf(call: Call, account: number, email: number): Promise<number | undefined> {
  await indexNow(call);
  const find = { tenant: call.tenant, accounts: [account], key: emailFindKey(email), since: 0, limit: MOST_TRACES };
  for (const { trace } of await call.store.scan(findTraces, find)) {
    const line = await call.store.read(lineOfArrival, { trace, account, email });
    if (line !== undefined) return line;
  }
  return undefined;
}
