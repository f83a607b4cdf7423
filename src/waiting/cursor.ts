import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { refuse } from '../core/refusal.ts';
import type { MailboxPosition, StreamPosition } from '../core/mail-waits.ts';

/** Newest messages for which a cursor stores individually whether they were reported. */
export const WINDOW = 200;
const MAC_CHARS = 8;

export function wasReported({ done, reported }: MailboxPosition, number: number): boolean {
  return number <= done || reported.some(([first, last]) => first <= number && number <= last);
}

/**
 * The position after `numbers` were reported and all messages up to `seen` were scanned. Skipped messages within the
 * window can still be found with another filter.
 */
export function advancePosition(position: MailboxPosition, numbers: readonly number[], seen: number): MailboxPosition {
  const all = [...position.reported, ...numbers.map((one) => [one, one] as const)].toSorted(([a], [b]) => a - b);
  let done = Math.max(position.done, Math.max(seen, ...numbers) - WINDOW);
  const reported: [number, number][] = [];
  for (const [first, last] of all) {
    const before = reported.at(-1);
    if (first <= done + 1) done = Math.max(done, last);
    else if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else reported.push([first, last]);
  }
  return { account: position.account, done, reported };
}

/** The position of a stream after it reported an arrival; all earlier messages count as reported. */
export function positionAfterArrival(position: MailboxPosition, account: number, number: number): MailboxPosition {
  const later = position.reported.filter(([, last]) => last > number);
  if (position.account !== account)
    return position.reported.length > 0 ? position : { account, done: number, reported: [] };
  return { account, done: number, reported: later.map(([first, last]) => [Math.max(first, number + 1), last]) };
}

/**
 * Syntax of a cursor. Reported messages are ranges, at most 24 (the older form, still held by clients), or a bitmap of the
 * window after a B.
 */
const CURSOR_FORM =
  /^w[0-9a-z]{1,11}\.[0-9a-z]{1,9}(?:(?:\.[0-9a-z]{1,9}-[0-9a-z]{1,6}){0,24}|\.B[\w-]{2,34})(?:~[0-9a-z]{1,11})?_[\w-]{8}$/;

/** Encodes positions as cursors with a MAC, so that a cursor altered by a model is rejected. */
export class Cursors {
  readonly #key: KeyObject;

  constructor(key: Buffer) {
    this.#key = createSecretKey(key);
  }

  write({ account, done, reported, line }: StreamPosition): string {
    const of = line === undefined ? '' : `~${line.toString(36)}`;
    const body = `w${account.toString(36)}.${done.toString(36)}${shorter(formatRanges(done, reported), formatBitmap(done, reported))}${of}`;
    return `${body}_${this.#mac(body)}`;
  }

  /** Decodes a cursor of a mailbox; refuses one of another mailbox. `newest`: number of the mailbox's last message. */
  read(text: string, account: number, newest: number): MailboxPosition {
    const { line: _line, ...position } = this.position(text);
    if (position.account !== account) {
      refuseCursor('is a cursor of another mailbox: pass the cursor of a result for this mailbox');
    }
    const last = position.reported.at(-1)?.[1] ?? position.done;
    if (last > newest) refuseCursor('is ahead of this mailbox, which may have been restored from a backup');
    return position;
  }

  /** Decodes a cursor; refuses one that this server did not write. Does not check access to the mailbox. */
  position(text: string): StreamPosition {
    const body = text.slice(0, -MAC_CHARS - 1);
    const mac = text.slice(-MAC_CHARS);
    if (!CURSOR_FORM.test(text) || !timingSafeEqual(Buffer.from(mac), Buffer.from(this.#mac(body)))) {
      refuseCursor('is not a cursor of this server: pass the cursor of the last result unchanged');
    }
    const [place = '', line] = body.slice(1).split('~');
    const [owner = '', done = '', ...runs] = place.split('.');
    const from = Number.parseInt(done, 36);
    const [bits] = runs;
    const reported =
      bits?.startsWith('B') === true ? parseBitmap(from, bits.slice(1)) : runs.map((run) => parseRange(from, run));
    const of = line === undefined ? undefined : Number.parseInt(line, 36);
    return { account: Number.parseInt(owner, 36), done: from, reported, line: of };
  }

  #mac(body: string): string {
    return createHmac('sha256', this.#key).update(body).digest('base64url').slice(0, MAC_CHARS);
  }
}

type ReportedRanges = MailboxPosition['reported'];

/** The shorter form, because a model has to copy it. */
function shorter(runs: string, bits: string): string {
  return runs.length <= bits.length ? runs : bits;
}

function formatRanges(done: number, reported: ReportedRanges): string {
  return reported.map(([first, last]) => `.${(first - done).toString(36)}-${(last - first).toString(36)}`).join('');
}

function parseRange(done: number, run: string): readonly [number, number] {
  const [first = 0, more = 0] = run.split('-').map((one) => Number.parseInt(one, 36));
  return [done + first, done + first + more];
}

/** The first bit is the message after `done`; no reported message is beyond the window. */
function formatBitmap(done: number, reported: ReportedRanges): string {
  const octets = Buffer.alloc(Math.ceil(((reported.at(-1)?.[1] ?? done) - done) / 8));
  for (const [first, last] of reported) {
    for (let at = first - done - 1; at < last - done; at++) octets[at >> 3] = (octets[at >> 3] ?? 0) | (1 << (at & 7));
  }
  return `.B${octets.toString('base64url')}`;
}

function parseBitmap(done: number, bits: string): ReportedRanges {
  const octets = Buffer.from(bits, 'base64url');
  const reported: [number, number][] = [];
  for (let at = 0; at < octets.length * 8; at++) {
    if (((octets[at >> 3] ?? 0) & (1 << (at & 7))) === 0) continue;
    const one = done + 1 + at;
    const before = reported.at(-1);
    if (before !== undefined && before[1] === one - 1) before[1] = one;
    else reported.push([one, one]);
  }
  return reported;
}

/** Refuses a cursor. */
export function refuseCursor(why: string): never {
  return refuse(
    'invalid_arguments',
    `since ${why}. Or omit since to start now: list_messages shows earlier messages.`,
    { issues: [{ path: 'since', message: 'is not a cursor of this mailbox' }] },
  );
}
