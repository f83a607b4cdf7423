import type { IncomingMessage } from 'node:http';
import type { Endpoint } from './endpoint.ts';
import { eventData } from './events.ts';
import { answers, failure, type Id, idOf, type Message, paramsOf, protocolHeaders, readMessage } from './message.ts';

const SESSION = 'mcp-session-id';

/** What leaves the bridge: messages for the client, and words for whoever reads its log. */
export interface Outlet {
  message(message: Message): void;
  complain(sentence: string): void;
}

interface UnderWay {
  done: Promise<void>;
  abort: AbortController;
  method: unknown;
}

/**
 * Carries JSON-RPC between a client that talks to its standard input and output and a server's MCP endpoint. It knows
 * of both eras only what HTTP wants in headers. Every request is answered, by the server or by a JSON-RPC error.
 */
export class Bridge {
  readonly #endpoint: Pick<Endpoint, 'post'>;
  readonly #out: Outlet;
  readonly #underWay = new Map<Id | symbol, UnderWay>();
  #handshake: Promise<void> = Promise.resolve();
  #agreed: string | undefined;
  #session: string | undefined;

  constructor(endpoint: Pick<Endpoint, 'post'>, out: Outlet) {
    this.#endpoint = endpoint;
    this.#out = out;
  }

  /** Takes one line of the client. */
  take(line: string): void {
    if (line.trim() === '') return;
    const message = readMessage(line);
    if (message === undefined) {
      this.#out.message(failure(null, -32700, 'A line must be one JSON-RPC object'));
      return;
    }
    if (message['method'] === 'notifications/cancelled') return this.#cancel(paramsOf(message)['requestId']);
    const id = idOf(message);
    const abort = new AbortController();
    const key = id ?? Symbol('notification');
    const done = this.#carry(message, id, abort.signal).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, { done, abort, method: message['method'] });
    // What follows a handshake has to name the version that was agreed on.
    if (message['method'] === 'initialize') this.#handshake = done;
  }

  /** Resolves when everything that was asked is answered; streams without an end are left. */
  async finish(): Promise<void> {
    for (const { method, abort } of this.#underWay.values()) if (method === 'subscriptions/listen') abort.abort();
    await Promise.all([...this.#underWay.values()].map((one) => one.done));
  }

  /** Over HTTP a request is given up by ending its connection. */
  #cancel(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#underWay.get(id)?.abort.abort();
  }

  /** Never rejects. */
  async #carry(message: Message, id: Id | undefined, signal: AbortSignal): Promise<void> {
    try {
      if (message['method'] === 'initialize') this.#agreed = this.#session = undefined;
      else await this.#handshake;
      const headers = {
        ...protocolHeaders(message, this.#agreed),
        ...(this.#session !== undefined && { [SESSION]: this.#session }),
      };
      const response = await this.#endpoint.post(headers, JSON.stringify(message), signal);
      const session = response.headers[SESSION];
      if (typeof session === 'string') this.#session = session;
      if (await this.#deliver(message, id, response)) return;
      this.#fail(id, response.statusCode ?? 502, 'The server did not answer this');
    } catch (error) {
      if (!signal.aborted) this.#fail(id, 503, `The server could not be reached: ${(error as Error).message}`);
    }
  }

  /** Hands on what the server said; true when that settles the message. */
  async #deliver(message: Message, id: Id | undefined, response: IncomingMessage): Promise<boolean> {
    const type = response.headers['content-type'] ?? '';
    if (!type.startsWith('text/event-stream')) return this.#deliverOne(message, id, response, await textOf(response));
    let settled = id === undefined;
    for await (const data of eventData(response)) {
      const said = readMessage(data);
      if (said === undefined) continue;
      settled ||= id !== undefined && answers(said, id);
      this.#out.message(said);
    }
    return settled;
  }

  #deliverOne(message: Message, id: Id | undefined, { statusCode = 0 }: IncomingMessage, text: string): boolean {
    const said = readMessage(text);
    if (statusCode === 404 && text.includes('session_not_found')) this.#session = undefined;
    if (id === undefined) {
      if (statusCode >= 400) this.#out.complain(`a notification was refused with ${statusCode}: ${text.slice(0, 300)}`);
      return true;
    }
    if (said === undefined || !('result' in said || 'error' in said)) return false;
    const version = (said['result'] as Message | undefined)?.['protocolVersion'];
    if (message['method'] === 'initialize' && typeof version === 'string') this.#agreed = version;
    // What was refused before it was read has no id.
    this.#out.message({ ...said, id });
    return true;
  }

  #fail(id: Id | undefined, code: number, sentence: string): void {
    if (id === undefined) this.#out.complain(sentence);
    else this.#out.message(failure(id, code, sentence, { error: 'unavailable' }));
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response as AsyncIterable<string>) text += chunk;
  return text;
}
