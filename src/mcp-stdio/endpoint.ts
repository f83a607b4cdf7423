import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { callServer } from '../operator-socket/client.ts';

/** The server's MCP endpoint over HTTP with keep-alive connections. */
export class RemoteEndpoint {
  readonly #address: ServerAddress;
  readonly #token: string | undefined;
  readonly #agent: http.Agent;

  constructor(address: ServerAddress, token: string | undefined) {
    this.#address = address;
    this.#token = token;
    this.#agent =
      address.url.protocol === 'https:'
        ? // On this machine the data directory identifies the server; its certificate is for the public name.
          new https.Agent({ keepAlive: true, rejectUnauthorized: address.ownMachine !== true })
        : new http.Agent({ keepAlive: true });
  }

  /** Resolves with the response head. No timeout, because tools may take long; `signal` aborts. */
  post(headers: Readonly<Record<string, string>>, body: string, signal: AbortSignal): Promise<IncomingMessage> {
    const { url, host } = this.#address;
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
      const outgoing = request(url, { method: 'POST', headers: all, agent: this.#agent, signal }, resolve);
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Address of the server's MCP endpoint. */
export interface ServerAddress {
  url: URL;
  /** Host header, if the server is reached by another name. */
  host?: string;
  /** On this machine: its certificate, for the public name, is not verified. */
  ownMachine?: true;
}

interface Status {
  baseUrl: string;
  listen: string[];
  listeners: { http?: number; https?: number };
}

/** Parses `--url`: base URL or MCP endpoint. */
export function parseServerUrl(text: string): ServerAddress | { problem: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return { problem: `--url must be like https://mail.example.com, not ${text}` };
  }
  if (url.pathname === '/') url.pathname = '/mcp';
  return { url };
}

/** Asks the server of a data directory for its address. */
export async function findLocalServer(dataDir: string): Promise<ServerAddress | { problem: string }> {
  const answer = await callServer(dataDir, 'get_status', {});
  if (answer.kind !== 'done') return { problem: answer.message };
  const { baseUrl, listen, listeners } = answer.result as Status;
  const port = listeners.http ?? listeners.https;
  if (port === undefined) return { problem: 'The server has no HTTP listener. Set MAILSTEAD_HTTP_PORT.' };
  const scheme = listeners.http === undefined ? 'https' : 'http';
  return {
    url: new URL(`${scheme}://${reachableAddress(listen)}:${port}/mcp`),
    host: new URL(baseUrl).host,
    ownMachine: true,
  };
}

/** Local address that reaches a server with these listen addresses. */
export function reachableAddress(listen: readonly string[]): string {
  if (listen.includes('127.0.0.1') || listen.includes('0.0.0.0')) return '127.0.0.1';
  const [first = '127.0.0.1'] = listen;
  if (listen.includes('::') || listen.includes('::1')) return '[::1]';
  return first.includes(':') ? `[${first}]` : first;
}
