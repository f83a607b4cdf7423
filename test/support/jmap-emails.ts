import { openReadableBlob, smallBlob } from '../../mail/jmap/blob/blobs.ts';
import { blobId, blobRef, jmapId } from '../../mail/jmap/core/ids.ts';
import type { CreatedEmail } from '../../mail/jmap/email-set/email-storage.ts';
import type { SetError } from '../../mail/jmap/core/errors.ts';
import { storeUploadStream } from '../../mail/jmap/blob/blob-upload.ts';
import { decodeTransfer } from '../../mail/message/decode.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { type Part, unpackParts } from '../../mail/message/parts.ts';
import { messageRows } from '../../mail/store/blob/content.ts';
import { listMailboxes } from '../../mail/store/mailbox/mailbox.ts';
import type { JmapFixture } from './jmap-fixture.ts';

/** Uploads octets; returns the blob id. */
export async function upload(
  fixture: JmapFixture,
  octets: Buffer | string,
  type = 'application/octet-stream',
): Promise<string> {
  const pieces = async function* (): AsyncIterable<Buffer> {
    yield Buffer.from(octets);
  };
  const kept = await storeUploadStream(fixture.context, { account: fixture.account, type }, pieces(), 100_000_000);
  if (kept.kind !== 'uploaded') throw new Error(kept.kind);
  return blobId({ kind: 'upload', upload: kept.upload });
}

export async function octetsOf(fixture: JmapFixture, id: string): Promise<Buffer> {
  const ref = blobRef(fixture.account, id);
  const blob = ref && (await openReadableBlob(fixture, fixture.account, ref));
  const octets = blob && (await smallBlob(blob, 100_000_000));
  if (octets === undefined) throw new Error(`there is no blob ${id}`);
  return octets;
}

/** Creates one email by Email/set. */
export async function create(fixture: JmapFixture, email: object): Promise<CreatedEmail> {
  const answer = await fixture.call('Email/set', { create: { k: inInbox(fixture, email) } });
  const made = (answer['created'] as Record<string, CreatedEmail> | null)?.['k'];
  if (made === undefined) throw new Error(JSON.stringify(answer['notCreated']));
  return made;
}

/** Returns the SetError of a refused creation. */
export async function createRefused(fixture: JmapFixture, email: object): Promise<SetError> {
  const answer = await fixture.call('Email/set', { create: { k: inInbox(fixture, email) } });
  const error = (answer['notCreated'] as Record<string, SetError> | null)?.['k'];
  if (error === undefined) throw new Error(`it was made: ${JSON.stringify(answer['created'])}`);
  return error;
}

function inInbox(fixture: JmapFixture, email: object): object {
  return { mailboxIds: { [jmapId('mailbox', fixture.inbox)]: true }, ...email };
}

/** A stored message and its parts, parsed by the server's indexer. */
export interface ParsedTestMessage {
  octets: Buffer;
  header: string;
  subject: string;
  parts: Part[];
  /** Decoded text of a part by its path. */
  text: (path: string) => string;
  body: (path: string) => Buffer;
}

export function parseTestMessage(octets: Buffer): ParsedTestMessage {
  const index = indexMessage(octets);
  const parts = unpackParts(index.parts);
  const body = (path: string): Buffer => {
    const part = parts.find((one) => one.path === path);
    if (part === undefined) throw new Error(`there is no part ${path}`);
    return decodeTransfer(octets.subarray(part.bodyOffset, part.bodyOffset + part.bodyLength), part.encoding);
  };
  return {
    octets,
    header: octets.subarray(0, index.headerLength).toString(),
    subject: index.subject,
    parts,
    text: (path) => body(path).toString(),
    body,
  };
}

/** Creates an email and parses the stored message. */
export async function createAndParse(
  fixture: JmapFixture,
  email: object,
): Promise<ParsedTestMessage & { made: CreatedEmail }> {
  const made = await create(fixture, email);
  return { ...parseTestMessage(await octetsOf(fixture, made.blobId)), made };
}

/** Reads flags by email id and mailbox id, as IMAP does. */
export async function seenByImap(fixture: JmapFixture): Promise<Map<string, Map<string, string[]>>> {
  const { store } = fixture.box;
  const seen = new Map<string, Map<string, string[]>>();
  for (const { id: mailbox } of await store.read(listMailboxes, { account: fixture.account })) {
    const view = await store.view(fixture.account, mailbox);
    const uids = Array.from(view.uids.subarray(0, view.length));
    const input = { account: fixture.account, mailbox, uids, structure: false };
    for (const { uid, emailId } of await store.read(messageRows, input)) {
      const id = jmapId('email', emailId);
      const where = seen.get(id) ?? new Map<string, string[]>();
      seen.set(id, where.set(jmapId('mailbox', mailbox), [...view.flagNames(uid)].sort()));
    }
    view.close();
  }
  return seen;
}
