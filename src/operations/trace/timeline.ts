import { plainAddress } from '../../../mail/message/plain-address.ts';
import { journalOf, type JournalLine, type Viewer } from '../../../mail/store/journal.ts';
import { queueOfTrace, type QueueRow } from '../../../mail/store/queue-rows.ts';
import type { Store } from '../../../mail/store/engine/types.ts';
import { openAttempts, sentOfTrace, type Told, toldOfEmail, untoldEmail } from '../../trace/queries.ts';
import type { Entry } from './entry.ts';
import { entriesOf } from './explain.ts';

/** What a viewer may know of one message. */
export interface Story {
  lines: readonly JournalLine[];
  /** Oldest first. */
  entries: Entry[];
  waiting: readonly QueueRow[];
  /** The id under which a program sent it. */
  sent: number | undefined;
}

/** More copies of a message are not asked how their webhooks fared, more recipients not what is being tried for them. */
const MOST_LOOKED_AT = 20;

/** The whole story of one message as far as the viewer is part of it; undefined when it is not. */
export async function storyOf(store: Store, viewer: Viewer, trace: string): Promise<Story | undefined> {
  const [lines, waiting] = await Promise.all([
    store.read(journalOf, { trace, ...viewer }),
    store.read(queueOfTrace, { trace, ...viewer }),
  ]);
  if (lines.length === 0) return undefined;
  const program = await programOf(store, viewer, trace);
  const told = await Promise.all(emailsOf(lines).map((one) => tellings(store, one)));
  const attempts = await Promise.all(waiting.slice(0, MOST_LOOKED_AT).map((row) => runningAttempts(store, row)));
  const entries = [...beginning(lines), ...inOrder(lines).flatMap(entriesOf), ...told.flat(), ...attempts.flat()];
  return {
    lines,
    entries: [...entries.toSorted((a, b) => a.at - b.at), ...waiting.flatMap(stillWaiting)],
    waiting,
    sent: program?.id,
  };
}

/** A report is written down before the end that it tells of, in the same commit; told it is after it. */
function inOrder(lines: readonly JournalLine[]): JournalLine[] {
  const isReport = ({ event }: JournalLine): boolean => event === 'bounced';
  return [...lines.filter((line) => !isReport(line)), ...lines.filter(isReport)];
}

/** What a program sent is no mailbox's: whoever is limited to mailboxes does not see it. */
async function programOf(store: Store, { tenant, accounts }: Viewer, trace: string) {
  return tenant === null || accounts !== null ? undefined : store.read(sentOfTrace, { organization: tenant, trace });
}

/** Who only forwards has no line of an arrival: the message was accepted all the same. */
function beginning(lines: readonly JournalLine[]): Entry[] {
  const [first] = lines;
  if (first?.event !== 'forwarded') return [];
  const { source } = first.detail;
  const whom = typeof source === 'string' ? `for ${source}` : 'here';
  return [{ at: first.at, event: 'accepted', explanation: `It came ${whom}, and was taken.` }];
}

/** A message as a mailbox has it, since `at` (ms UTC). */
interface Copy {
  account: number;
  email: number;
  at: number;
}

/** The copies in mailboxes that the lines tell of, newest last. */
export function emailsOf(lines: readonly JournalLine[]): Copy[] {
  return lines
    .flatMap(({ at, account, detail: { email } }) =>
      account !== null && typeof email === 'number' ? [{ account, email, at }] : [],
    )
    .slice(0, MOST_LOOKED_AT);
}

async function tellings(store: Store, copy: Copy): Promise<Entry[]> {
  const [told, untold] = await Promise.all([store.read(toldOfEmail, copy), store.read(untoldEmail, copy)]);
  const last = told.at(-1)?.at ?? copy.at;
  return [...told.map(telling), ...(untold === undefined ? [] : [toldLater(untold, last)])];
}

function telling({ at, url, status, problem, response }: Told): Entry {
  const text = problem ?? response;
  const fine = problem === null && status !== null && status >= 200 && status < 300;
  return {
    at,
    event: 'webhook',
    host: URL.canParse(url) ? new URL(url).host : url,
    ...(status !== null && { code: status }),
    ...(text !== '' && { text }),
    explanation: fine
      ? 'The webhook of the mailbox was told of it.'
      : 'The webhook of the mailbox was not told: its receiver has to answer 2xx within 10 seconds.',
  };
}

function toldLater({ nextAt, deadAt }: { nextAt: number; deadAt: number | null }, last: number): Entry {
  const explanation =
    deadAt === null
      ? `The webhook of the mailbox is to be told of it at ${new Date(nextAt).toISOString()}.`
      : 'Telling the webhook was given up. Mend the receiver, then call replay_webhook_delivery.';
  return { at: deadAt ?? last, event: 'webhook', explanation };
}

async function runningAttempts(store: Store, { id, recipient: to }: QueueRow): Promise<Entry[]> {
  const begun = await store.read(openAttempts, { queue: id });
  const explanation = 'An attempt began, and its end is not known: it is under way, or this server was stopped in it.';
  const recipient = plainAddress(to);
  return begun.map((at): Entry => ({ at, event: 'attempt', recipient, explanation }));
}

/** How it stands now with who has not got it; the time is that of the last change. */
function stillWaiting(row: QueueRow): Entry[] {
  const { attempts, state, next_at: next, last_at: last, created_at: created } = row;
  const recipient = plainAddress(row.recipient);
  // That it is held is the last thing that its own line says.
  if (state === 1) return [];
  const tries = attempts === 0 ? 'not tried yet' : `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} so far`;
  const explanation = `It still waits for ${recipient}: ${tries}, the next one at ${new Date(next).toISOString()}. retry_queue_item tries it now.`;
  return [{ at: last ?? created, event: 'queued', recipient, explanation }];
}
