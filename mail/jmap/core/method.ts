import type { OnRead, OnWords } from '../../agents/hooks.ts';
import type { PolicyInput } from '../../agents/gate/sending-policy.ts';
import type { SubmissionContext } from '../../delivery/submission-draft.ts';
import type { MemoryHolder, MemoryReservation } from '../../limits/memory-budget.ts';
import type { Log } from '../../log.ts';
import type { Actor, IdentifiedPerson } from '../../store/actor-types.ts';
import type { SharingLogin } from '../../store/mailbox/acl.ts';
import type { SharedAccount } from '../../store/mailbox/shared-account.ts';
import type { SecretBox } from '../../store/blob/secrets.ts';
import type { JmapLimits } from './capabilities.ts';

/** A session's access to one account. */
export interface Access {
  readonly account: number;
  /** Primary address of the account. */
  readonly address: string;
  readonly readOnly: boolean;
  /** Permission to submit mail. */
  readonly mayTransmit: boolean;
  /** False if the client cannot download whole messages, only parts and parsed properties. */
  readonly mayReadSource?: boolean;
  /** The login with whom a part of the account is shared; omitted for its own accounts. See {@link JmapMethod.canShare}. */
  readonly shared?: SharingLogin;
  /** The credential, for the sending gate: the public id of a token, the row of a password, or a person without either. */
  readonly by?: { readonly token: string } | { readonly password: number } | { readonly person: IdentifiedPerson };
}

/** Identifies the sender for the outgoing mail policy. */
export function submitterOf({ account, by }: Access): Pick<PolicyInput, 'credential' | 'login'> & { account: number } {
  const credential = by !== undefined && 'token' in by ? by.token : null;
  return { account, credential, login: by !== undefined && 'password' in by ? by.password : null };
}

/** The password's owner or the person as actor; undefined for tokens, which cannot approve anything. */
export function actorOf({ by }: Access): Actor | undefined {
  if (by === undefined || 'token' in by) return undefined;
  return 'person' in by ? by : { credential: by.password };
}

/** An authenticated login or token with the accounts it can use. */
export interface JmapSession {
  /** Login name or token name. */
  readonly username: string;
  readonly accounts: ReadonlyMap<string, Access>;
  /** The login with whom others may share mailboxes; omitted for tokens. `accounts` has these accounts during a request. */
  readonly sharing?: SharingLogin;
  /** Credential id; push subscriptions belong to it. */
  readonly credential: string;
  /** Holder of the memory of its requests and responses: its organization. */
  readonly memoryHolder?: MemoryHolder;
  /** The agent whose changes are logged; omitted for a person. */
  readonly agent?: string;
  /** Called before message content is returned. */
  readonly onRead?: OnRead;
  /** Called before words outside of messages are returned or written. */
  readonly onWords?: OnWords;
  /** Called before text of other servers is returned. */
  readonly onRemoteText?: () => Promise<void>;
  /** Called with the whole response before it is sent. */
  onResponse?(response: unknown): Promise<void>;
  /** Wraps the octets of a download, to inspect them before they are sent. */
  wrapDownload?(octets: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
  /** Reason why the session cannot register this push URL; undefined if it can. */
  pushRefusal?(url: string): Promise<string | undefined>;
  /** Resolves to true for an agent; omitted for a person. */
  isAgent?(): Promise<boolean>;
}

/** Push delivery, as the PushSubscription methods use it. */
export interface PushContext {
  /** Encrypts stored endpoints. */
  readonly secrets: SecretBox;
  /** VAPID public key: uncompressed P-256 point in base64url. RFC 9749. */
  readonly publicKey: string;
  /** Reason why a URL cannot receive pushes; undefined if it can. */
  checkUrl(url: string): Promise<string | undefined>;
  /** Rate limit per credential: each verification sends a request to a host of the client's choice. */
  mayVerify(credential: string): boolean;
  /** Sends the verification push of a new subscription. RFC 8620 7.2.2. */
  created(subscription: number): void;
  /** Reloads a subscription that was updated or destroyed. */
  changed(subscription: number): void;
}

/** Dependencies of the JMAP methods, including those for submission. */
export interface JmapContext extends SubmissionContext {
  readonly limits: JmapLimits;
  /** Maximum message size in octets. */
  readonly maxMessageBytes: number;
  readonly push: PushContext;
  readonly log: Log;
}

/** One method call in progress. */
export interface MethodCall {
  readonly context: JmapContext;
  readonly session: JmapSession;
  readonly using: ReadonlySet<string>;
  /** The shared accounts that this call names, by owner. Read for each call: rights may be revoked between two. */
  readonly shared?: ReadonlyMap<number, SharedAccount>;
  /** Ids created in this request, by creation id. RFC 8620 3.3. */
  readonly createdIds: Map<string, string>;
  /** Memory of the request, until its response is sent. */
  readonly memory: MemoryReservation;
  /** Queues an implicit method call after this one; its response has the same call id. RFC 8620 5.3, 8621 7.5. */
  addImplicitCall(name: string, args: Record<string, unknown>): void;
}

/** One JMAP method. `capability` must be in `using`; `run` throws MethodError. */
export interface JmapMethod {
  readonly name: string;
  readonly capability: string;
  /** True for a method that keeps to the shared part of an account; others refuse shared accounts. */
  readonly canShare?: true;
  run(call: MethodCall, args: Record<string, unknown>): Promise<Record<string, unknown>>;
}
