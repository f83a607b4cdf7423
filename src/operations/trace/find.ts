import { parseAddress } from '../../../mail/message/address.ts';
import { StoreBusy } from '../../../mail/store/engine/types.ts';
import type { JournalViewer } from '../../../mail/store/journal/journal.ts';
import {
  addressFindKey,
  emailFindKey,
  findTraces,
  type FoundTrace,
  indexJournal,
  messageIdKey,
} from '../../../mail/store/journal/journal-index.ts';
import { MESSAGE_ID, accountIn, rowIn } from '../../core/message-ids.ts';
import { rowId } from '../../core/ids.ts';
import { findSent } from '../../sending/sent-queries.ts';
import type { Call } from '../../core/operation.ts';
import { namedMailbox, namedMessage } from '../reading/mailbox-arguments.ts';
import { refuse } from '../../core/refusal.ts';

export interface TraceQuery {
  /** The mailbox of `messageId`, if that names none. */
  mailbox?: string | undefined;
  messageId?: string | undefined;
  rfc822MessageId?: string | undefined;
  address?: string | undefined;
  since?: string | undefined;
}

/** Maximum lines scanned, and so maximum messages found. */
const MAX_TRACES = 60;
/** Maximum slices of lines indexed per call: 100,000 lines. */
const MAX_SLICES = 500;
const SINCE_MS = 30 * 24 * 3600_000;

/** Finds the messages, newest first; a trace id needs no search. */
export async function findMessageTraces(
  call: Call,
  viewer: JournalViewer & { tenant: number },
  query: TraceQuery,
): Promise<Pick<FoundTrace, 'trace'>[]> {
  const { mailbox, messageId, rfc822MessageId, address, since } = query;
  if (mailbox !== undefined) await namedMailbox(call, mailbox);
  const ways = [messageId, rfc822MessageId, address].filter((one) => one !== undefined);
  if (ways.length !== 1) wrong('messageId', 'Give one of messageId, rfc822MessageId and address.');
  const by = async (key: number, from: number): Promise<FoundTrace[]> => {
    await indexNow(call);
    return call.store.scan(findTraces, { ...viewer, key, since: from, limit: MAX_TRACES });
  };
  if (rfc822MessageId !== undefined) return by(messageIdKey(rfc822MessageId), 0);
  if (address !== undefined) {
    if (parseAddress(address) === undefined)
      wrong('address', 'address must be a mail address such as ann@example.com.');
    return by(addressFindKey(address), since === undefined ? call.clock() - SINCE_MS : Date.parse(since));
  }
  const sent = rowId('sent', messageId ?? '');
  if (sent !== undefined) {
    const found = await call.store.read(findSent, { organization: viewer.tenant, id: sent });
    return found === undefined ? [] : [found];
  }
  const email = await emailNamed(call, query);
  return email === undefined ? [{ trace: messageId ?? '' }] : by(emailFindKey(email), 0);
}

/** Returns the row of a JMAP message id; undefined: it is an id of the log. */
async function emailNamed(call: Call, { mailbox, messageId = '' }: TraceQuery): Promise<number | undefined> {
  const account = mailbox === undefined ? accountIn(messageId) : undefined;
  // The log may know it though its mailbox is gone.
  if (account !== undefined) return rowIn('email', account, messageId);
  // Shorter than any trace id, or with a mailbox.
  return MESSAGE_ID.test(messageId) ? (await namedMessage(call, { mailbox, messageId })).email : undefined;
}

/** Indexes the newest lines first, so that they are found. A full disk does not prevent the search. */
export async function indexNow({ store }: Pick<Call, 'store'>): Promise<void> {
  for (let more = true, slices = 0; more && slices < MAX_SLICES; slices++) {
    more = await store.writeSlice(indexJournal, undefined).catch((error: unknown) => {
      if (error instanceof StoreBusy) return false;
      throw error;
    });
  }
}

function wrong(path: string, message: string): never {
  return refuse('invalid_arguments', message, { issues: [{ path, message }] });
}
