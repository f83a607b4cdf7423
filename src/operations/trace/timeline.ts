import { plainAddress } from '../../../mail/message/plain-address.ts';
import { journalOf, type JournalLine, type JournalViewer } from '../../../mail/store/journal/journal.ts';
import { queueOfTrace, type QueueRow } from '../../../mail/store/queue/queue-rows.ts';
import type { Store } from '../../../mail/store/engine/types.ts';
import {
  openAttempts,
  sentOfTrace,
  type WebhookAttempt,
  webhookAttemptsOf,
  pendingWebhookNotice,
} from '../../trace/queries.ts';
import type { Entry } from './entry.ts';
import { explainLine } from './explain.ts';

/** The part of a message's history that a viewer may see. */
export interface MessageTimeline {
  lines: readonly JournalLine[];
  /** Oldest first. */
  entries: Entry[];
  waiting: readonly QueueRow[];
  /** The id of a message sent by a program. */
  sent: number | undefined;
}

/** Maximum copies whose webhook deliveries are loaded, and maximum recipients whose attempts in progress are loaded. */
const MAX_COPIES = 20;

/** Loads the timeline of a message, limited to what the viewer may see; undefined if nothing. */
export async function timelineOf(
  store: Store,
  viewer: JournalViewer,
  trace: string,
): Promise<MessageTimeline | undefined> {
  const [lines, waiting] = await Promise.all([
    store.read(journalOf, { trace, ...viewer }),
    store.read(queueOfTrace, { trace, ...viewer }),
  ]);
  if (lines.length === 0) return undefined;
  const program = await programOf(store, viewer, trace);
  const notifications = await Promise.all(emailsOf(lines).map((one) => tellings(store, one)));
  const attempts = await Promise.all(waiting.slice(0, MAX_COPIES).map((row) => runningAttempts(store, row)));
  const entries = [
    ...beginning(lines),
    ...inOrder(lines).flatMap(explainLine),
    ...notifications.flat(),
    ...attempts.flat(),
  ];
  return {
    lines,
    entries: [...entries.toSorted((a, b) => a.at - b.at), ...waiting.flatMap(stillWaiting)],
    waiting,
    sent: program?.id,
  };
}

/** Puts a report after the failure that it reports: both are in one commit, the report first. */
function inOrder(lines: readonly JournalLine[]): JournalLine[] {
  const isReport = ({ event }: JournalLine): boolean => event === 'bounced';
  return [...lines.filter((line) => !isReport(line)), ...lines.filter(isReport)];
}

/** Hides messages of programs, which belong to no mailbox, from viewers limited to mailboxes. */
async function programOf(store: Store, { tenant, accounts }: JournalViewer, trace: string) {
  return tenant === null || accounts !== null ? undefined : store.read(sentOfTrace, { organization: tenant, trace });
}

/** Adds an acceptance where there is none: a forward-only address logs no delivery. */
function beginning(lines: readonly JournalLine[]): Entry[] {
  const [first] = lines;
  if (first?.event !== 'forwarded') return [];
  const { source } = first.detail;
  const whom = typeof source === 'string' ? `for ${source}` : 'here';
  return [{ at: first.at, event: 'accepted', explanation: `Received ${whom} and accepted.` }];
}

/** Describes a message in a mailbox, since `at` (ms UTC). */
interface Copy {
  account: number;
  email: number;
  at: number;
}

/** Returns the copies in mailboxes, newest last. */
export function emailsOf(lines: readonly JournalLine[]): Copy[] {
  return lines
    .flatMap(({ at, account, detail: { email } }) =>
      account !== null && typeof email === 'number' ? [{ account, email, at }] : [],
    )
    .slice(0, MAX_COPIES);
}

async function tellings(store: Store, copy: Copy): Promise<Entry[]> {
  const [sent, pending] = await Promise.all([
    store.read(webhookAttemptsOf, copy),
    store.read(pendingWebhookNotice, copy),
  ]);
  const last = sent.at(-1)?.at ?? copy.at;
  return [...sent.map(telling), ...(pending === undefined ? [] : [pendingNotification(pending, last)])];
}

function telling({ at, url, status, problem, response }: WebhookAttempt): Entry {
  const text = problem ?? response;
  const fine = problem === null && status !== null && status >= 200 && status < 300;
  return {
    at,
    event: 'webhook',
    host: URL.canParse(url) ? new URL(url).host : url,
    ...(status !== null && { code: status }),
    ...(text !== '' && { text }),
    explanation: fine
      ? 'The webhook of the mailbox was notified.'
      : 'The webhook of the mailbox was not notified: its receiver must answer 2xx within 10 seconds.',
  };
}

function pendingNotification({ nextAt, deadAt }: { nextAt: number; deadAt: number | null }, last: number): Entry {
  const explanation =
    deadAt === null
      ? `The webhook of the mailbox is notified at ${new Date(nextAt).toISOString()}.`
      : 'Notifying the webhook was given up. Fix the receiver, then call replay_webhook_delivery.';
  return { at: deadAt ?? last, event: 'webhook', explanation };
}

async function runningAttempts(store: Store, { id, recipient: to }: QueueRow): Promise<Entry[]> {
  const begun = await store.read(openAttempts, { queue: id });
  const explanation =
    'An attempt started and its result is unknown: it is in progress, or the server was stopped meanwhile.';
  const recipient = plainAddress(to);
  return begun.map((at): Entry => ({ at, event: 'attempt', recipient, explanation }));
}

/** Describes waiting recipients; the time is that of their last change. */
function stillWaiting(row: QueueRow): Entry[] {
  const { attempts, state, next_at: next, last_at: last, created_at: created } = row;
  const recipient = plainAddress(row.recipient);
  // The line of the hold already says so.
  if (state === 1) return [];
  const tries = attempts === 0 ? 'not attempted yet' : `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} so far`;
  const explanation = `Waiting for ${recipient}: ${tries}, next attempt at ${new Date(next).toISOString()}. retry_queue_item retries now.`;
  return [{ at: last ?? created, event: 'queued', recipient, explanation }];
}
