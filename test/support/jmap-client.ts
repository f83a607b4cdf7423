import { EventReader } from './event-source.ts';

/** Arguments of a call, or of its response. */
export type Args = Record<string, unknown>;
export type Invocation = readonly [name: string, args: Args, callId: string];

/** The Session object. RFC 8620 2. */
export interface SessionObject {
  capabilities: Record<string, Args>;
  accounts: Record<string, { name: string; isReadOnly: boolean; accountCapabilities: Record<string, Args> }>;
  primaryAccounts: Record<string, string>;
  username: string;
  apiUrl: string;
  downloadUrl: string;
  uploadUrl: string;
  eventSourceUrl: string;
  state: string;
}

/** The upload response. RFC 8620 6.1. */
export interface UploadResponse {
  accountId: string;
  blobId: string;
  type: string;
  size: number;
}

export type Credential = { user: string; password: string } | { token: string };

/** A method-level error. RFC 8620 3.6.2. */
export class JmapMethodError extends Error {
  readonly type: string;

  constructor(method: string, { type, description }: Args) {
    super(`${method}: ${String(type)}: ${String(description)}`);
    this.type = String(type);
  }
}

export const MAIL = 'urn:ietf:params:jmap:mail';
/** Capabilities used, if the server has them. */
const SPOKEN = ['core', 'mail', 'submission', 'vacationresponse', 'blob', 'quota'].map(
  (name) => `urn:ietf:params:jmap:${name}`,
);

/** A JMAP client written from RFC 8620, without code of the server. */
export class JmapClient {
  readonly session: SessionObject;
  /** The primary account for mail. */
  readonly account: string;
  readonly #authorization: string;
  readonly #using: readonly string[];

  private constructor(session: SessionObject, authorization: string) {
    this.session = session;
    this.account = session.primaryAccounts[MAIL] ?? '';
    this.#authorization = authorization;
    this.#using = SPOKEN.filter((uri) => uri in session.capabilities);
  }

  /** Finds the session by autodiscovery from origin and credential. RFC 8620 2.2. */
  static async discover(origin: string, credential: Credential): Promise<JmapClient> {
    const authorization =
      'token' in credential
        ? `Bearer ${credential.token}`
        : `Basic ${Buffer.from(`${credential.user}:${credential.password}`).toString('base64')}`;
    const answer = await fetch(new URL('/.well-known/jmap', origin), { headers: { authorization } });
    if (!answer.ok) throw new Error(`no session: ${answer.status} ${await answer.text()}`);
    return new JmapClient((await answer.json()) as SessionObject, authorization);
  }

  /** Sends several calls in one request; returns the responses in order, errors included. RFC 8620 3.3. */
  async request(calls: readonly Invocation[]): Promise<Invocation[]> {
    const answer = await fetch(this.session.apiUrl, {
      method: 'POST',
      headers: { authorization: this.#authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ using: this.#using, methodCalls: calls }),
    });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { methodResponses: Invocation[] }).methodResponses;
  }

  /** Sends several calls to the account; returns the last response of each call, by call id. */
  async calls(calls: readonly Invocation[]): Promise<Record<string, Args>> {
    const own = calls.map(([name, args, id]) => [name, { accountId: this.account, ...args }, id] as const);
    const responses = await this.request(own);
    for (const [name, args, id] of responses) {
      if (name === 'error') throw new JmapMethodError(calls.find((call) => call[2] === id)?.[0] ?? id, args);
    }
    return Object.fromEntries(responses.map(([, args, id]) => [id, args]));
  }

  /** Sends one call to the account. */
  async call(name: string, args: Args = {}): Promise<Args> {
    return (await this.calls([[name, args, 'only']]))['only'] ?? {};
  }

  async upload(content: Uint8Array<ArrayBuffer>, type: string): Promise<UploadResponse> {
    const answer = await fetch(filled(this.session.uploadUrl, { accountId: this.account }), {
      method: 'POST',
      headers: { authorization: this.#authorization, 'content-type': type },
      body: content,
    });
    if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
    return (await answer.json()) as UploadResponse;
  }

  async download(blobId: string, name = 'blob', type = 'application/octet-stream'): Promise<Buffer> {
    const url = filled(this.session.downloadUrl, { accountId: this.account, blobId, name, type });
    const answer = await fetch(url, { headers: { authorization: this.#authorization } });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    return Buffer.from(await answer.arrayBuffer());
  }

  /** Opens the event source; `after` is the id of the last event received. RFC 8620 7.3. */
  events(types: readonly string[] | '*' = '*', after?: string): Promise<EventReader> {
    const all = { types: types === '*' ? '*' : types.join(), closeafter: 'no', ping: '60' };
    return EventReader.open(filled(this.session.eventSourceUrl, all), {
      authorization: this.#authorization,
      ...(after !== undefined && { 'last-event-id': after }),
    });
  }
}

/** A result reference. RFC 8620 3.7. */
export function ref(resultOf: string, name: string, path: string): Args {
  return { resultOf, name, path };
}

/** The objects of a /get. */
export function listOf(said: Args | undefined): Args[] {
  return (said?.['list'] ?? []) as Args[];
}

/** A URI template of level 1. RFC 6570 3.2.2. */
function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(values[name] ?? ''));
}
