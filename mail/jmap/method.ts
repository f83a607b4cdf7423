import type { AnswerDesk } from '../delivery/answers.ts';
import type { Asked, Policy } from '../delivery/policy.ts';
import type { Log, Meter } from '../log.ts';
import type { Allowance } from '../store/allowance.ts';
import type { Budget } from '../store/budget.ts';
import type { Hand } from '../store/hand.ts';
import type { SecretBox } from '../store/secrets.ts';
import type { MailStore } from '../store/store.ts';
import type { JmapLimits } from './limits.ts';

/** One account that the client may use, and how. */
export interface Access {
  readonly account: number;
  /** Its own address. */
  readonly address: string;
  readonly readOnly: boolean;
  /** It may send. */
  readonly mayTransmit: boolean;
  /** False: of whole messages it is not given the octets, only what is read of them. */
  readonly seesSource?: boolean;
  /** With what it was opened, for who judges what is sent: the public id of a token, or the row of a password. */
  readonly by?: { readonly token: string } | { readonly password: number };
}

/** As the policy for outgoing mail is told who sends. */
export function askerOf({ account, by }: Access): Pick<Asked, 'account' | 'credential' | 'login'> {
  const credential = by !== undefined && 'token' in by ? by.token : null;
  return { account, credential, login: by !== undefined && 'password' in by ? by.password : null };
}

/** Whose password it is; undefined: a token, which decides about nothing that waits for a person. */
export function handOf({ by }: Access): Hand | undefined {
  return by !== undefined && 'password' in by ? { credential: by.password } : undefined;
}

/** Who asks: a login or a token, with the accounts that it opens by their ids. */
export interface JmapSession {
  /** The login name, or the name of the token. */
  readonly username: string;
  readonly accounts: ReadonlyMap<string, Access>;
  /** Tells sessions apart that must not share push subscriptions: the credential. */
  readonly credential: string;
  /** The agent that it is of: what it changes is written down. Left out: a person's. */
  readonly agent?: string;
  /** Told which messages of an account are about to be shown; left out: nobody wants to know. */
  shown?(account: number, emails: readonly number[]): Promise<void>;
  /** Told which messages of an account are about to be shown beyond a line of a list: their texts, or their octets. */
  opened?(account: number, emails: readonly number[], as: 'text' | 'octets'): Promise<void>;
  /** Told of a whole response before it leaves. */
  answered?(response: unknown): Promise<void>;
  /** Sees all octets of a download before they leave; left out: nobody wants to. */
  downloads?(octets: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
  /** Why it may not have the box post to a URL of its choice; undefined, and left out: it may. */
  pushBar?(url: string): Promise<string | undefined>;
  /** Whether an agent asks, whose mail is judged by what it read; left out: a person. */
  isAgents?(): Promise<boolean>;
}

/** Tells devices that are not connected. */
export interface PushDesk {
  /** Endpoints are sealed with it. */
  readonly secrets: SecretBox;
  /** With which pushes are signed: an uncompressed point of P-256 in base64url. RFC 9749. */
  readonly publicKey: string;
  /** Why nothing may be pushed to a URL; undefined: it may. */
  judge(url: string): Promise<string | undefined>;
  /** Whether a credential may have one more address asked now; each is a request of ours to a host of its choice. */
  mayAsk(credential: string): boolean;
  /** A subscription was made: its address is asked to prove itself. */
  created(subscription: number): void;
  /** A subscription was changed or removed: it is told from now on, or no more. */
  changed(subscription: number): void;
}

/** What the methods need of the mail system. */
export interface JmapDesk {
  readonly store: MailStore;
  /** ms UTC. */
  readonly clock: () => number;
  readonly limits: JmapLimits;
  /** The largest message, in octets. */
  readonly maxMessageBytes: number;
  readonly hostname: string;
  readonly push: PushDesk;
  readonly log: Log;
  readonly meter: Meter;
  /** For whom an account sends, and how much that may be; null and left out: no limit. */
  senderOf(account: number): Promise<{ tenant: number; allowance: Allowance | null; budgets?: readonly Budget[] }>;
  /** May hold or refuse what an account sends. */
  readonly policy: Policy;
  /** Reads answers to letters of the box; left out: nobody does. */
  readonly answers?: AnswerDesk;
  /** Why mail for elsewhere may not go out now; null lets it go. */
  readonly hold: string | null;
  /** Of the box: rewritten senders and markers of what it forwards. */
  readonly forwardKey: Buffer;
  /** A new id for the story of a message. */
  readonly traceId: () => string;
  /** Something was queued: the relay may look. */
  queued(): void;
}

/** One method call under way. */
export interface Call {
  readonly desk: JmapDesk;
  readonly session: JmapSession;
  readonly using: ReadonlySet<string>;
  /** Creation ids of this request so far, with the ids that they became. RFC 8620 3.3. */
  readonly createdIds: Map<string, string>;
  /** Runs a further method right after this one; its response follows under the same call id. RFC 8620 5.3, 8621 7.5. */
  follow(name: string, args: Record<string, unknown>): void;
}

/** One method: its name, the capability that must be in `using`, and what it answers. Throws MethodError. */
export interface Method {
  readonly name: string;
  readonly capability: string;
  run(call: Call, args: Record<string, unknown>): Promise<Record<string, unknown>>;
}
