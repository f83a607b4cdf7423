import { openShown, smallBlob } from '../../mail/jmap/blobs.ts';
import { blobId, blobRef, jmapId } from '../../mail/jmap/ids.ts';
import type { MadeEmail } from '../../mail/jmap/compose/save-email.ts';
import type { SetError } from '../../mail/jmap/errors.ts';
import { keepBlob } from '../../mail/jmap/uploads.ts';
import { decodeTransfer } from '../../mail/message/decode.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { type Part, unpackParts } from '../../mail/message/parts.ts';
import { messageRows } from '../../mail/store/content.ts';
import { listMailboxes } from '../../mail/store/mailbox.ts';
import type { JmapWorld } from './jmap-world.ts';

/** Octets as an upload of the account; answers their blob id. */
export async function upload(
  world: JmapWorld,
  octets: Buffer | string,
  type = 'application/octet-stream',
): Promise<string> {
  const pieces = async function* (): AsyncIterable<Buffer> {
    yield Buffer.from(octets);
  };
  const kept = await keepBlob(world.desk, { account: world.account, type }, pieces(), 100_000_000);
  if (kept.kind !== 'uploaded') throw new Error(kept.kind);
  return blobId({ kind: 'upload', upload: kept.upload });
}

export async function octetsOf(world: JmapWorld, id: string): Promise<Buffer> {
  const ref = blobRef(world.account, id);
  const blob = ref && (await openShown(world, world.account, ref));
  const octets = blob && (await smallBlob(blob, 100_000_000));
  if (octets === undefined) throw new Error(`there is no blob ${id}`);
  return octets;
}

/** What Email/set makes of one object. */
export async function create(world: JmapWorld, email: object): Promise<MadeEmail> {
  const answer = await world.call('Email/set', { create: { k: inInbox(world, email) } });
  const made = (answer['created'] as Record<string, MadeEmail> | null)?.['k'];
  if (made === undefined) throw new Error(JSON.stringify(answer['notCreated']));
  return made;
}

/** Why Email/set makes nothing of one object. */
export async function refused(world: JmapWorld, email: object): Promise<SetError> {
  const answer = await world.call('Email/set', { create: { k: inInbox(world, email) } });
  const error = (answer['notCreated'] as Record<string, SetError> | null)?.['k'];
  if (error === undefined) throw new Error(`it was made: ${JSON.stringify(answer['created'])}`);
  return error;
}

function inInbox(world: JmapWorld, email: object): object {
  return { mailboxIds: { [jmapId('mailbox', world.inbox)]: true }, ...email };
}

/** A message as it lies in the store, and its parts by the server's own indexer. */
export interface ReadBack {
  octets: Buffer;
  header: string;
  subject: string;
  parts: Part[];
  /** Decoded text of a part by its path. */
  text: (path: string) => string;
  body: (path: string) => Buffer;
}

export function readBack(octets: Buffer): ReadBack {
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

/** Creates and reads back. */
export async function composed(world: JmapWorld, email: object): Promise<ReadBack & { made: MadeEmail }> {
  const made = await create(world, email);
  return { ...readBack(await octetsOf(world, made.blobId)), made };
}

/** What an IMAP session sees of an account: flags by email id and mailbox id. */
export async function seenByImap(world: JmapWorld): Promise<Map<string, Map<string, string[]>>> {
  const { store } = world.box;
  const seen = new Map<string, Map<string, string[]>>();
  for (const { id: mailbox } of await store.read(listMailboxes, { account: world.account })) {
    const view = store.view(world.account, mailbox);
    const uids = Array.from(view.uids.subarray(0, view.length));
    const input = { account: world.account, mailbox, uids, structure: false };
    for (const { uid, emailId } of await store.read(messageRows, input)) {
      const id = jmapId('email', emailId);
      const where = seen.get(id) ?? new Map<string, string[]>();
      seen.set(id, where.set(jmapId('mailbox', mailbox), [...view.flagNames(uid)].sort()));
    }
    view.close();
  }
  return seen;
}
