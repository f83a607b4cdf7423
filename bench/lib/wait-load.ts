import { Agent, type ClientRequest, request as ask } from 'node:http';

/** How an agent waits: by a long poll, by a bare call, or with a stream that tells its progress. */
export type Way = 'rest' | 'mcp' | 'stream';

export interface OpenWait {
  /** Resolves with the moment at which the answer was there, ms of performance.now(). */
  answered: Promise<number>;
  end(): void;
}

/** Opens one wait for the mail of a mailbox, on a connection of its own. */
export function openWait(port: number, token: string, mailbox: string, way: Way): OpenWait {
  const args = { mailbox, timeoutSeconds: way === 'stream' ? 300 : 50 };
  const asked =
    way === 'rest'
      ? send(port, token, `/api/email/mailboxes/${mailbox}/wait?timeout=${args.timeoutSeconds}`, {})
      : send(port, token, '/mcp', way === 'stream' ? { accept: 'application/json, text/event-stream' } : {}, {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'wait_for_email', arguments: args, ...(way === 'stream' && { _meta: { progressToken: 1 } }) },
        });
  const answered = new Promise<number>((resolve, reject) => {
    asked.on('error', reject);
    asked.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        if (text.includes('"matched":true')) resolve(performance.now());
        else reject(new Error(text.slice(0, 300)));
      });
    });
  });
  // Nobody may be waiting for it any more when it ends.
  answered.catch(() => undefined);
  return { answered, end: () => void asked.destroy() };
}

const agent = new Agent({ keepAlive: false, maxSockets: Infinity });

function send(port: number, token: string, path: string, more: Record<string, string>, body?: object): ClientRequest {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more };
  const method = body === undefined ? 'GET' : 'POST';
  const asked = ask({ host: '127.0.0.1', port, path, method, headers, agent });
  asked.end(body === undefined ? '' : JSON.stringify(body));
  return asked;
}
