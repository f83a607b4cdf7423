import { parseAddress } from '../../../mail/message/address.ts';
import { StoreBusy } from '../../../mail/store/engine/types.ts';
import type { Viewer } from '../../../mail/store/journal.ts';
import {
  addressFindKey,
  emailFindKey,
  findTraces,
  type FoundTrace,
  indexJournal,
  messageIdKey,
} from '../../../mail/store/journal-index.ts';
import { rowId } from '../../ids.ts';
import { findSent } from '../../sending/sent-queries.ts';
import type { Call } from '../operation.ts';
import { namedMailbox, namedMessage } from '../reading/which.ts';
import { refuse } from '../refusal.ts';

export interface Asked {
  /** The mailbox in which `messageId` means something, where it is one of JMAP's. */
  mailbox?: string | undefined;
  messageId?: string | undefined;
  rfc822MessageId?: string | undefined;
  address?: string | undefined;
  since?: string | undefined;
}

/** Lines that are looked at, and so the most messages that are named. */
const MOST = 60;
/** Of lines that are indexed for one question: 100,000 of them. */
const MOST_SLICES = 500;
const SINCE_MS = 30 * 24 * 3600_000;

/** The messages that are meant, newest first; one given by its trace id is not looked for. */
export async function findStories(
  call: Call,
  viewer: Viewer & { tenant: number },
  asked: Asked,
): Promise<Pick<FoundTrace, 'trace'>[]> {
  const { mailbox, messageId, rfc822MessageId, address, since } = asked;
  if (mailbox !== undefined) await namedMailbox(call, mailbox);
  const ways = [messageId, rfc822MessageId, address].filter((one) => one !== undefined);
  if (ways.length !== 1) wrong('messageId', 'Give one of messageId, rfc822MessageId and address.');
  const by = async (key: number, from: number): Promise<FoundTrace[]> => {
    await indexNow(call);
    return call.store.scan(findTraces, { ...viewer, key, since: from, limit: MOST });
  };
  if (rfc822MessageId !== undefined) return by(messageIdKey(rfc822MessageId), 0);
  if (address !== undefined) {
    if (parseAddress(address) === undefined) wrong('address', 'address is not a mail address.');
    return by(addressFindKey(address), since === undefined ? call.clock() - SINCE_MS : Date.parse(since));
  }
  const sent = rowId('sent', messageId ?? '');
  if (sent !== undefined) {
    const found = await call.store.read(findSent, { organization: viewer.tenant, id: sent });
    return found === undefined ? [] : [found];
  }
  const email = await emailNamed(call, asked);
  return email === undefined ? [{ trace: messageId ?? '' }] : by(emailFindKey(email), 0);
}

/** The row of a message that is named as mailboxes name it; undefined: as the log does. */
async function emailNamed(call: Call, { mailbox, messageId = '' }: Asked): Promise<number | undefined> {
  const global = /^msg_(\d+)$/.exec(messageId)?.[1];
  if (global !== undefined) return Number(global);
  // Shorter than any id of the log.
  return /^m[1-9a-z][0-9a-z]{0,9}$/.test(messageId)
    ? (await namedMessage(call, { mailbox, messageId })).email
    : undefined;
}

/** What happened a moment ago is to be found too. A disk that is full keeps nobody from looking. */
export async function indexNow({ store }: Pick<Call, 'store'>): Promise<void> {
  for (let more = true, slices = 0; more && slices < MOST_SLICES; slices++) {
    more = await store.writeSlice(indexJournal, undefined).catch((error: unknown) => {
      if (error instanceof StoreBusy) return false;
      throw error;
    });
  }
}

function wrong(path: string, message: string): never {
  return refuse('invalid_arguments', message, { issues: [{ path, message }] });
}
