import type { FlagSet } from '../imap-store.ts';
import type { Session } from '../session.ts';
import { no, type TaggedResponse } from '../tagged-response.ts';
import { findUrlContent } from '../url/url-content.ts';
import type { Decoder } from '../wire/decoder.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';
import type { AppendBatch } from './append-batch.ts';
import type { AppendInput } from './append-input.ts';

const NO_FLAGS: FlagSet = { bits: 0, keywords: [] };
/** Octets of a URL. */
const MAX_URL = 8 * 1024;
/** Characters of a URL in a response. */
const MAX_SHOWN_URL = 1000;
/** URLs of one message: each opens another message. */
const MAX_URLS = 200;
/** Parts of one message: empty ones add no octets. */
const MAX_PARTS = 1000;

/**
 * Reads messages into a batch until the end of the command. Returns the refusal, if there is one. `isSingle`: REPLACE takes
 * one. RFC 3502, RFC 4469.
 */
export async function readMessages(
  session: Session,
  input: AppendInput,
  batch: AppendBatch,
  isSingle: boolean,
): Promise<TaggedResponse | undefined> {
  do {
    const refusal = await readMessage(session, input, batch);
    if (refusal !== undefined) return refusal;
    if (isSingle && !input.isComplete) throw new ImapSyntaxError('REPLACE takes one message');
  } while (!input.isComplete);
  return undefined;
}

async function readMessage(
  session: Session,
  input: AppendInput,
  batch: AppendBatch,
): Promise<TaggedResponse | undefined> {
  const facts = readFacts(input.text.sp());
  const isCatenated = input.text.maybe('CATENATE (');
  const refusal = isCatenated ? await readCatenated(session, input, batch) : await readLiteral(session, input, batch);
  return refusal ?? batch.end(facts);
}

/** `[(flags) ] [date-time ]`, with the space before the message. */
function readFacts(d: Decoder): { flags: FlagSet; receivedAt: number | undefined } {
  const flags = d.ahead('(') ? d.flagList() : undefined;
  if (flags !== undefined) d.sp();
  const receivedAt = d.ahead('"') ? d.dateTime() : undefined;
  if (receivedAt !== undefined) d.sp();
  return { flags: flags ?? NO_FLAGS, receivedAt };
}

/** A literal, a literal8, or `UTF8 (~{n} ...)`. RFC 9051 6.3.12, RFC 3516 4.4, RFC 6855 4. */
async function readLiteral(
  session: Session,
  input: AppendInput,
  batch: AppendBatch,
): Promise<TaggedResponse | undefined> {
  const isUtf8 = input.text.maybe('UTF8 (');
  const { size, binary } = input.literal;
  const refusal = refuseSize(session, size) ?? batch.begin(size, binary) ?? (await batch.write(input.octets()));
  if (isUtf8 && refusal === undefined) input.text.expect(')');
  return refusal;
}

/** The parts of `CATENATE (...)`: literals, and URLs of messages that are here. RFC 4469 3. */
async function readCatenated(
  session: Session,
  input: AppendInput,
  batch: AppendBatch,
): Promise<TaggedResponse | undefined> {
  // A literal8 may come later: RFC 3516 allows it in TEXT too.
  let refusal = batch.begin(0, true);
  let urls = 0;
  for (let parts = 1; refusal === undefined; parts++) {
    if (parts > MAX_PARTS) throw new ImapSyntaxError('Too many parts');
    if (input.text.maybe('URL ')) {
      if (++urls > MAX_URLS) throw new ImapSyntaxError('Too many URLs');
      refusal = await copyUrl(session, batch, await readUrl(input));
    } else {
      refusal = await readText(session, input, batch);
    }
    if (refusal === undefined && input.text.maybe(')')) return undefined;
    if (refusal === undefined) input.text.sp();
  }
  return refusal;
}

/** `TEXT {n}`, or `UTF8 (~{n})`. RFC 4469 5, RFC 6855 4. */
async function readText(session: Session, input: AppendInput, batch: AppendBatch): Promise<TaggedResponse | undefined> {
  const isUtf8 = input.text.maybe('UTF8 (');
  if (!isUtf8) input.text.expect('TEXT ');
  const refusal = refuseSize(session, input.literal.size) ?? (await batch.write(input.octets()));
  if (isUtf8 && refusal === undefined) input.text.expect(')');
  return refusal;
}

async function readUrl(input: AppendInput): Promise<string> {
  const url = input.isAtLiteral ? await input.shortText(MAX_URL) : input.text.astring();
  if (url.length > MAX_URL) throw new ImapSyntaxError('URL is too long');
  return url;
}

async function copyUrl(session: Session, batch: AppendBatch, url: string): Promise<TaggedResponse | undefined> {
  const content = await findUrlContent(session, url);
  if (content === undefined) return badUrl(url);
  return batch.write(content);
}

/** RFC 4469 4.2. Characters that could break the response line become `?`. */
function badUrl(url: string): TaggedResponse {
  const shown = url.slice(0, MAX_SHOWN_URL).replace(/[^\x21\x23-\x5b\x5d-\x7e]/g, '?');
  return no(`BADURL "${shown}"`, 'No message or part has this URL');
}

function refuseSize(session: Session, size: number): TaggedResponse | undefined {
  return size > session.context.limits.messageBytes ? no('TOOBIG', 'Message is larger than APPENDLIMIT') : undefined;
}
