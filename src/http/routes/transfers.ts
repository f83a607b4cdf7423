import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { flushDirectory, makeDirectory } from '../../../mail/backup/flush-file.ts';
import { importJob, updateImportJob } from '../../../mail/store/transfer/import-job.ts';
import type { AppContext } from '../../core/app-context.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { refuse } from '../../core/refusal.ts';
import { mayUseMailbox } from '../../people/member-commands.ts';
import { isLinkValid } from '../../tokens/token-validity.ts';
import { readTransferTicket, type TransferTicket } from '../../transfers/transfer-link.ts';
import { checkUploadRoom } from '../../transfers/upload-room.ts';
import { UploadsInProgress } from '../../transfers/uploads-in-progress.ts';
import { isRateLimited, sendRefusal } from '../json-replies.ts';
import { refusalOf } from './send-requests.ts';

const PATH = '/api/email/transfers';

/** Uploads of files to import and downloads of exports, with signed links. Both can be resumed. */
export function transferRoutes(context: AppContext): (app: FastifyInstance) => Promise<void> {
  const receiving = new UploadsInProgress();
  return async (app) => {
    app.removeAllContentTypeParsers();
    // The body is written to a file as it comes, and never held in memory.
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    app.put(PATH, { bodyLimit: Number.MAX_SAFE_INTEGER }, (request, reply) =>
      upload(context, receiving, request, reply),
    );
    app.get(PATH, (request, reply) => download(context, request, reply));
    await Promise.resolve();
  };
}

function ticketOf(context: AppContext, kind: TransferTicket['kind'], request: FastifyRequest): TransferTicket {
  const { ticket: text } = request.query as { ticket?: unknown };
  const given = { now: context.clock(), ip: request.ip };
  return readTransferTicket(context.secrets, kind, String(text), given) ?? invalidLink();
}

const invalidLink = (): never => refuse('not_found', 'Invalid or expired link. Request a new one.');

/** Checks that who created a link may still use its mailbox: a token may be revoked, and a person may have left. */
async function checkHolder(
  context: AppContext,
  { credential, organization }: TransferTicket,
  account: number,
): Promise<void> {
  const user = rowId('user', credential);
  const isAllowed =
    user === undefined
      ? await isLinkValid(context, credential, account)
      : await context.store.read(mayUseMailbox, { organization, user, account });
  if (!isAllowed) invalidLink();
}

async function upload(
  context: AppContext,
  receiving: UploadsInProgress,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (isRateLimited(context, request, reply)) return reply;
  try {
    const ticket = ticketOf(context, 'import', request);
    const range = rangeOf(request);
    const id = Number(ticket.id);
    // Before the turn: a refused request does not end the one that is being received.
    await checkOpen(context, ticket);
    await checkStart(context.transfers.uploadPath(id), range.start);
    const received = await receiving.alone(id, request.body as Readable, (octets) =>
      receive(context, ticket, range, octets),
    );
    if (received < range.total) return await reply.code(202).send({ received, total: range.total });
    return await reply.code(201).send({ importId: publicId('import', id), received });
  } catch (error) {
    return sendRefusal(reply, refusalOf(context, error));
  }
}

/** Receives the whole of an upload or a part of it, and starts the import at its end. Returns the octets that are there. */
async function receive(
  context: AppContext,
  ticket: TransferTicket,
  { start, total }: UploadRange,
  octets: Readable,
): Promise<number> {
  const { organization: tenant } = ticket;
  const id = Number(ticket.id);
  // Again: the request before this one may have brought the whole file.
  await checkOpen(context, ticket);
  await checkUploadRoom(context, { tenant, id, total });
  const received = await append(context, octets, context.transfers.uploadPath(id), start, total);
  if (received < total) return received;
  const started = await context.store.write(updateImportJob, { id, state: 'running', progress: '{}', report: '{}' });
  if (!started) refuse('conflict', 'This import was cancelled. Start a new one.', { resource: 'import' });
  context.transfers.startImport(id);
  return received;
}

interface UploadRange {
  start: number;
  total: number;
}

/** First octet and total of a PUT: `Content-Range: bytes 0-99/200`, or the whole file. RFC 9110 14.5. */
function rangeOf({ headers }: FastifyRequest): UploadRange {
  const range = headers['content-range'];
  if (range === undefined) {
    const total = Number(headers['content-length']);
    if (Number.isSafeInteger(total) && total > 0) return { start: 0, total };
    return refuse('invalid_arguments', 'Send the content of the file with its Content-Length.', { issues: [] });
  }
  const [, first, last, all] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(range) ?? [];
  const [start, end, total] = [Number(first), Number(last), Number(all)];
  if (start <= end && end < total) return { start, total };
  return refuse('invalid_arguments', 'Content-Range must look like "bytes 0-99/200".', { issues: [] });
}

/** Refuses an upload that nobody may bring any more, or whose import has begun or was cancelled. */
async function checkOpen(context: AppContext, ticket: TransferTicket): Promise<void> {
  const job = await context.store.read(importJob, { tenant: ticket.organization, id: Number(ticket.id) });
  await checkHolder(context, ticket, job?.account ?? 0);
  if (job?.state !== 'waiting') refuse('conflict', 'This link was used. Request a new one.', { resource: 'import' });
}

/** Refuses octets behind those that have arrived. */
async function checkStart(path: string, start: number): Promise<void> {
  const size = await sizeOf(path);
  if (start > size) refuse('conflict', `Only ${size} octets have arrived: continue there.`, { resource: 'upload' });
}

/** Octets that have arrived; 0: none. Throws for a file that is there and cannot be read: it must not be sent again. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Appends octets to a file from `start`; returns its size. What was received before a cut stays. */
async function append(
  { store }: AppContext,
  octets: Readable,
  path: string,
  start: number,
  total: number,
): Promise<number> {
  await makeDirectory(dirname(path));
  await using file = await open(path, 'a+', 0o600);
  await checkStart(path, start);
  await file.truncate(start);
  let received = start;
  for await (const chunk of octets) {
    const busy = store.unavailable();
    if (busy !== undefined) refuse('unavailable', `${busy.message}: free some space on the server, then continue.`);
    received += (chunk as Buffer).length;
    if (received > total) refuse('invalid_arguments', 'The body is longer than Content-Range says.', { issues: [] });
    await file.appendFile(chunk as Buffer);
  }
  await file.sync();
  // Also after the last of several parts: the first one may have been cut before it came here.
  await flushDirectory(dirname(path));
  return received;
}

async function download(context: AppContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (isRateLimited(context, request, reply)) return reply;
  try {
    const ticket = ticketOf(context, 'export', request);
    const { id, organization } = ticket;
    const status = context.transfers.exportStatus(id);
    await checkHolder(context, ticket, status?.account ?? 0);
    if (status === undefined || status.tenant !== organization) {
      return refuse('not_found', 'This export is gone. Start a new one.', { resource: 'export' });
    }
    if (status.state === 'failed') refuse('conflict', status.problem ?? 'The export failed.', { resource: 'export' });
    if (status.state === 'running') {
      refuse('unavailable', `The export runs: ${status.messages} messages so far.`, { retryAfterSeconds: 5 });
    }
    return await sendFile(request, reply, status.path);
  } catch (error) {
    return sendRefusal(reply, refusalOf(context, error));
  }
}

/** Sends a file, or the rest of it from an octet. RFC 9110 14.2: other ranges are ignored. */
async function sendFile({ headers }: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
  const { size } = await stat(path);
  const [, from] = /^bytes=(\d{1,15})-$/.exec(headers.range ?? '') ?? [];
  const start = Number(from ?? 0);
  void reply
    .header('content-type', 'application/zip')
    .header('content-disposition', 'attachment; filename="mailbox.zip"')
    .header('accept-ranges', 'bytes');
  if (from === undefined) return reply.header('content-length', size).send(createReadStream(path));
  if (start >= size) return reply.code(416).header('content-range', `bytes */${size}`).send();
  return reply
    .code(206)
    .header('content-length', size - start)
    .header('content-range', `bytes ${start}-${size - 1}/${size}`)
    .send(createReadStream(path, { start }));
}
