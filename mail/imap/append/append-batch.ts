import type {
  AppendOutcome,
  AppendSink,
  ImapMailboxInfo,
  ImapStore,
  NewMessage,
  ReplacedMessage,
} from '../imap-store.ts';
import { no, type TaggedResponse } from '../tagged-response.ts';
import type { ImapLimits } from '../limits.ts';

/** Octets of messages and of their structure that one APPEND holds in memory until its commit. */
const MAX_HELD_OCTETS = 4 * 1024 * 1024;
/** Octets that one keyword holds beside its letters. */
const KEYWORD_OCTETS = 64;
/** Octets of all messages of one APPEND, as multiple of the largest one: those of CATENATE cost the client next to nothing. */
const MAX_TOTAL_MESSAGES = 4;

/** The messages of one APPEND, which are stored in one commit, or not at all. RFC 3502 6.3.11. */
export class AppendBatch {
  readonly #store: ImapStore;
  readonly #limits: ImapLimits;
  readonly #messages: NewMessage[] = [];
  #sink: AppendSink | undefined;
  /** Octets of the message that is written. */
  #octets = 0;
  /** Octets of all messages, which are on the disk until the commit. */
  #total = 0;
  #held = 0;

  constructor(store: ImapStore, limits: ImapLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /** Begins a message. Returns the refusal, if it cannot be stored. */
  begin(size: number, binary: boolean): TaggedResponse | undefined {
    if (this.#messages.length >= this.#limits.savedMessages) return tooMany(this.#limits);
    if (this.#total + size > this.#mostOctets) return TOO_MUCH;
    const sink = this.#store.append(size, { inFile: this.#held > MAX_HELD_OCTETS / 2, binary });
    if ('kind' in sink) return sink.kind === 'over-quota' ? OVER_QUOTA : no('UNAVAILABLE', sink.why);
    this.#sink = sink;
    this.#octets = 0;
    return undefined;
  }

  /** Adds octets to the message. Returns the refusal, if it is too large. */
  async write(pieces: AsyncIterable<Buffer>): Promise<TaggedResponse | undefined> {
    for await (const piece of pieces) {
      this.#octets += piece.length;
      this.#total += piece.length;
      if (this.#octets > this.#limits.messageBytes) return TOO_BIG;
      if (this.#total > this.#mostOctets) return TOO_MUCH;
      await this.#sink?.write(piece);
    }
    return undefined;
  }

  /** Ends the message. Returns the refusal, if it cannot be stored. */
  async end(facts: Omit<NewMessage, 'sink'>): Promise<TaggedResponse | undefined> {
    const sink = this.#sink;
    // RFC 3502 6.3.11: an empty literal cancels the command.
    if (sink === undefined || this.#octets === 0) return no('Message is empty');
    this.#messages.push({ sink, ...facts });
    this.#sink = undefined;
    const held = await sink.close();
    if (held === undefined) return NUL;
    this.#held += held + keywordOctets(facts);
    return this.#held > MAX_HELD_OCTETS ? TOO_MUCH : undefined;
  }

  get #mostOctets(): number {
    return MAX_TOTAL_MESSAGES * this.#limits.messageBytes;
  }

  /** Stores all messages. */
  async commit(mailbox: ImapMailboxInfo, replaces?: ReplacedMessage): Promise<AppendOutcome> {
    const messages = this.#messages.splice(0);
    return this.#store.finishAppends({ mailbox, messages, ...(replaces && { replaces }) });
  }

  /** Discards what was not stored. */
  abort(): void {
    this.#sink?.abort();
    for (const { sink } of this.#messages) sink.abort();
  }
}

const TOO_MUCH = no('LIMIT', 'Too much in one APPEND: send fewer messages at once');
const TOO_BIG = no('TOOBIG', 'Message is larger than APPENDLIMIT');
const NUL = no('UNKNOWN-CTE', 'NUL octets are allowed only in parts with Content-Transfer-Encoding: binary');
const OVER_QUOTA = no('OVERQUOTA', 'Over quota: delete messages and try again');

/** Octets of the keywords of a message: a line of 64 KiB can have thousands, before each of a thousand messages. */
function keywordOctets({ flags }: Omit<NewMessage, 'sink'>): number {
  return flags.keywords.reduce((sum, { length }) => sum + length + KEYWORD_OCTETS, 0);
}

/** RFC 9738 3.1. */
function tooMany({ savedMessages }: ImapLimits): TaggedResponse {
  return no(`MESSAGELIMIT ${savedMessages}`, 'Too many messages in one APPEND: send fewer at once');
}

/** The refusal of a batch that was not stored; undefined: it was. */
export function appendRefusal(outcome: Exclude<AppendOutcome, { kind: 'appended' }>): TaggedResponse {
  switch (outcome.kind) {
    case 'missing':
      return no('TRYCREATE', 'No such mailbox');
    case 'over-quota':
      return OVER_QUOTA;
    case 'too-many-keywords':
      return no('LIMIT', 'Too many different keywords in this mailbox');
    case 'forbidden':
      return no('NOPERM', outcome.why);
    case 'too-big':
      return TOO_BIG;
    case 'gone':
      return no('EXPUNGEISSUED', 'The message to replace was expunged');
  }
}
