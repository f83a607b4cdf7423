import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Place } from './place.ts';

/** The server's MCP endpoint over HTTP, on connections that stay open. */
export class Endpoint {
  readonly #place: Place;
  readonly #token: string | undefined;
  readonly #agent: http.Agent;

  constructor(place: Place, token: string | undefined) {
    this.#place = place;
    this.#token = token;
    this.#agent =
      place.url.protocol === 'https:'
        ? // On this machine the data directory vouches for the server, and its certificate is for another name.
          new https.Agent({ keepAlive: true, rejectUnauthorized: place.ownMachine !== true })
        : new http.Agent({ keepAlive: true });
  }

  /** Resolves with the head of the answer; tools may take long, so nothing here ends the waiting but `signal`. */
  post(headers: Readonly<Record<string, string>>, body: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { url, host } = this.#place;
    const all = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'content-length': String(Buffer.byteLength(body)),
      ...(host !== undefined && { host }),
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      ...headers,
    };
    const { request } = url.protocol === 'https:' ? https : http;
    return new Promise((resolve, reject) => {
      const asked = request(url, { method: 'POST', headers: all, agent: this.#agent, signal }, resolve);
      asked.on('error', reject);
      asked.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
