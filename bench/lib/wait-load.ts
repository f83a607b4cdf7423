import { Agent, type ClientRequest, request as ask } from 'node:http';

/**
 * Ways of waiting: a long poll, by a bare call, with a stream of the older revisions, or of the current one. And a
 * program: by a stream of events.
 */
export type Way = 'rest' | 'mcp' | 'stream' | 'modern' | 'events';

export interface OpenWait {
  /** Resolves with the moment at which the answer was there, ms of performance.now(). */
  answered: Promise<number>;
  end(): void;
}

/** Opens one wait for the mail of a mailbox, on a connection of its own. */
export function openWait(port: number, token: string, mailbox: string, way: Way): OpenWait {
  const seconds = way === 'rest' || way === 'mcp' ? 50 : 300;
  const path = way === 'events' ? '/api/events' : `/api/email/mailboxes/${mailbox}/wait?timeout=${seconds}`;
  const queried =
    way === 'rest' || way === 'events'
      ? send(port, token, path, {})
      : send(port, token, '/mcp', HEADERS[way], called(mailbox, seconds, way));
  const answered = new Promise<number>((resolve, reject) => {
    queried.on('error', reject);
    queried.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        // A stream goes on.
        if (text.includes('event: mail\n')) resolve(performance.now());
      });
      response.on('end', () => {
        if (text.includes('"matched":true')) resolve(performance.now());
        else reject(new Error(text.slice(0, 300)));
      });
    });
  });
  // Nobody may be waiting for it any more when it ends.
  answered.catch(() => undefined);
  return { answered, end: () => void queried.destroy() };
}

const STREAM = { accept: 'application/json, text/event-stream' };
const VERSION = '2026-07-28';
const HEADERS = {
  mcp: {},
  stream: STREAM,
  modern: { ...STREAM, 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'wait_for_email' },
};
const META = {
  mcp: {},
  stream: { progressToken: 1 },
  modern: {
    progressToken: 1,
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': {},
  },
};

function called(mailbox: string, timeoutSeconds: number, way: keyof typeof META): object {
  const params = { name: 'wait_for_email', arguments: { mailbox, timeoutSeconds }, _meta: META[way] };
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
}

const agent = new Agent({ keepAlive: false, maxSockets: Infinity });

function send(port: number, token: string, path: string, more: Record<string, string>, body?: object): ClientRequest {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more };
  const method = body === undefined ? 'GET' : 'POST';
  const queried = ask({ host: '127.0.0.1', port, path, method, headers, agent });
  queried.end(body === undefined ? '' : JSON.stringify(body));
  return queried;
}
