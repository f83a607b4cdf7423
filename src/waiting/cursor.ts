import { createHmac, timingSafeEqual } from 'node:crypto';
import { refuse } from '../operations/refusal.ts';

/** Of so many of the last messages a cursor remembers one by one which were told. */
export const WINDOW = 200;
const MAC_CHARS = 8;

/**
 * How far somebody who waits has come in one mailbox. Messages are numbered in the order in which they come. Up to `done`
 * all are dealt with; of those behind it the ones in `told` were shown, and the others were not asked for so far.
 */
export interface Place {
  account: number;
  done: number;
  /** Stretches, first and last of each, in ascending order; they neither touch nor overlap. */
  told: readonly (readonly [number, number])[];
}

/** How far a stream of events has come, and in the mailbox of the last message that it told also by that message. */
export interface Position extends Place {
  /** Of the journal; undefined: no stream gave this, but a wait for mail. */
  line?: number | undefined;
}

export function wasTold({ done, told }: Place, number: number): boolean {
  return number <= done || told.some(([first, last]) => first <= number && number <= last);
}

/**
 * The place after `numbers` were told and everything up to `seen` was looked at. What was passed over stays findable for
 * another filter, unless it lies too far back.
 */
export function placeAfter(place: Place, numbers: readonly number[], seen: number): Place {
  const all = [...place.told, ...numbers.map((one) => [one, one] as const)].toSorted(([a], [b]) => a - b);
  let done = Math.max(place.done, Math.max(seen, ...numbers) - WINDOW);
  const told: [number, number][] = [];
  for (const [first, last] of all) {
    const before = told.at(-1);
    if (first <= done + 1) done = Math.max(done, last);
    else if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else told.push([first, last]);
  }
  return { account: place.account, done, told };
}

/** The place after a message was told to who is told all as it comes; what it leaves behind in another mailbox is told. */
export function placeBehind(place: Place, account: number, number: number): Place {
  const left = place.told.filter(([, last]) => last > number);
  if (place.account !== account) return place.told.length > 0 ? place : { account, done: number, told: [] };
  return { account, done: number, told: left.map(([first, last]) => [Math.max(first, number + 1), last]) };
}

/**
 * A cursor as it looks; whether it holds is asked apart. What was told stands in it as stretches, at most 24 of them as
 * cursors had that clients still hold, or behind a B as the window bit by bit.
 */
const CURSOR_FORM =
  /^w[0-9a-z]{1,11}\.[0-9a-z]{1,9}(?:(?:\.[0-9a-z]{1,9}-[0-9a-z]{1,6}){0,24}|\.B[\w-]{2,34})(?:~[0-9a-z]{1,11})?_[\w-]{8}$/;

/** Writes and reads cursors: a place under a MAC, so that one which a model has changed is seen to be no cursor. */
export class Cursors {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  write({ account, done, told, line }: Position): string {
    const of = line === undefined ? '' : `~${line.toString(36)}`;
    const body = `w${account.toString(36)}.${done.toString(36)}${shorter(runsOf(done, told), bitsOf(done, told))}${of}`;
    return `${body}_${this.#mac(body)}`;
  }

  /** The place in a mailbox that a cursor names; refuses what is no cursor of it. `newest` is the mailbox's last message. */
  read(text: string, account: number, newest: number): Place {
    const { line: _line, ...place } = this.position(text);
    if (place.account !== account) {
      wrong('is a cursor of another mailbox: pass on the one that an answer for this mailbox gave');
    }
    const last = place.told.at(-1)?.[1] ?? place.done;
    if (last > newest) wrong('is ahead of this mailbox, which may have been restored from a copy');
    return place;
  }

  /** What a cursor says; refuses what this server did not write. Whose it is, and whether that is still there, is not asked. */
  position(text: string): Position {
    const body = text.slice(0, -MAC_CHARS - 1);
    const mac = text.slice(-MAC_CHARS);
    if (!CURSOR_FORM.test(text) || !timingSafeEqual(Buffer.from(mac), Buffer.from(this.#mac(body)))) {
      wrong('is no cursor of this server: pass on the cursor of the last answer as it is');
    }
    const [place = '', line] = body.slice(1).split('~');
    const [owner = '', done = '', ...runs] = place.split('.');
    const from = Number.parseInt(done, 36);
    const [bits] = runs;
    const told =
      bits?.startsWith('B') === true ? toldInBits(from, bits.slice(1)) : runs.map((run) => toldInRun(from, run));
    const of = line === undefined ? undefined : Number.parseInt(line, 36);
    return { account: Number.parseInt(owner, 36), done: from, told, line: of };
  }

  #mac(body: string): string {
    return createHmac('sha256', this.#key).update(body).digest('base64url').slice(0, MAC_CHARS);
  }
}

type Told = Place['told'];

/** A model has to pass it on. */
function shorter(runs: string, bits: string): string {
  return runs.length <= bits.length ? runs : bits;
}

function runsOf(done: number, told: Told): string {
  return told.map(([first, last]) => `.${(first - done).toString(36)}-${(last - first).toString(36)}`).join('');
}

function toldInRun(done: number, run: string): readonly [number, number] {
  const [first = 0, more = 0] = run.split('-').map((one) => Number.parseInt(one, 36));
  return [done + first, done + first + more];
}

/** The first bit is that of the message behind `done`; nothing told lies further on than the window. */
function bitsOf(done: number, told: Told): string {
  const octets = Buffer.alloc(Math.ceil(((told.at(-1)?.[1] ?? done) - done) / 8));
  for (const [first, last] of told) {
    for (let at = first - done - 1; at < last - done; at++) octets[at >> 3] = (octets[at >> 3] ?? 0) | (1 << (at & 7));
  }
  return `.B${octets.toString('base64url')}`;
}

function toldInBits(done: number, bits: string): Told {
  const octets = Buffer.from(bits, 'base64url');
  const told: [number, number][] = [];
  for (let at = 0; at < octets.length * 8; at++) {
    if (((octets[at >> 3] ?? 0) & (1 << (at & 7))) === 0) continue;
    const one = done + 1 + at;
    const before = told.at(-1);
    if (before !== undefined && before[1] === one - 1) before[1] = one;
    else told.push([one, one]);
  }
  return told;
}

/** Refuses a cursor. */
export function wrong(why: string): never {
  return refuse(
    'invalid_arguments',
    `since ${why}. Or leave since out to begin anew: list_messages shows what has come already.`,
    { issues: [{ path: 'since', message: 'is no cursor for this mailbox' }] },
  );
}
