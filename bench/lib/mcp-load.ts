import { Agent, request as ask } from 'node:http';

export type Era = 'bare' | 'modern';

export interface McpFigures {
  perSecond: number;
  /** Latency of one call, from its due time, ms. */
  p50: number;
  p99: number;
  /** By how much the generator itself began a call too late, 99th percentile, ms; it is part of the other two. */
  late: number;
}

const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const MODERN_HEADERS = { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'whoami' };

/** Calls of `whoami` by one organization over connections that stay open. */
export class McpLoad {
  readonly #port: number;
  readonly #agent: Agent;
  readonly #connections: number;
  #token = '';

  private constructor(port: number, connections: number) {
    this.#port = port;
    this.#connections = connections;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Makes an organization of its own to call as. */
  static async open(port: number, connections: number): Promise<McpLoad> {
    const load = new McpLoad(port, connections);
    const made = await load.#post('bare', 'create_own_organization', { organizationName: 'Bench' });
    load.#token = String(made['token']);
    return load;
  }

  /** As many as are answered, each connection one after the other. */
  async flatOut(era: Era, seconds: number): Promise<McpFigures> {
    const until = performance.now() + seconds * 1000;
    const took: number[] = [];
    const lane = async (): Promise<void> => {
      for (let from = performance.now(); from < until; from = performance.now()) {
        await this.#whoami(era);
        took.push(performance.now() - from);
      }
    };
    await Promise.all(Array.from({ length: this.#connections }, lane));
    return figures(took, [], seconds);
  }

  /** So many a second, evenly, whether or not the ones before are answered: waiting for a connection counts. */
  async offered(era: Era, perSecond: number, seconds: number): Promise<McpFigures> {
    const took: number[] = [];
    const calls: Promise<void>[] = [];
    const began = performance.now();
    const late: number[] = [];
    const call = async (due: number): Promise<void> => {
      late.push(performance.now() - due);
      await this.#whoami(era);
      took.push(performance.now() - due);
    };
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        const passed = ((performance.now() - began) / 1000) * perSecond;
        const due = Math.min(perSecond * seconds, Math.floor(passed) + 1);
        while (calls.length < due) calls.push(call(began + (calls.length * 1000) / perSecond));
        if (calls.length < perSecond * seconds) return;
        clearInterval(timer);
        resolve();
      }, 1);
    });
    await Promise.all(calls);
    return figures(took, late, seconds);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #whoami(era: Era): Promise<void> {
    const said = await this.#post(era, 'whoami', {});
    if (said['serverVersion'] === undefined) throw new Error(`whoami answered ${JSON.stringify(said)}`);
  }

  #post(era: Era, name: string, args: object): Promise<Record<string, unknown>> {
    const params = { name, arguments: args, ...(era === 'modern' && { _meta: META }) };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      accept: 'application/json, text/event-stream',
      ...(this.#token !== '' && { authorization: `Bearer ${this.#token}` }),
      ...(era === 'modern' && MODERN_HEADERS),
    };
    const to = { host: '127.0.0.1', port: this.#port, path: '/mcp', method: 'POST', agent: this.#agent, headers };
    return new Promise((resolve, reject) => {
      const queried = ask(to, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          const { result } = JSON.parse(text) as { result?: { structuredContent?: Record<string, unknown> } };
          if (result?.structuredContent === undefined) reject(new Error(text.slice(0, 300)));
          else resolve(result.structuredContent);
        });
      });
      queried.on('error', reject);
      queried.end(body);
    });
  }
}

function figures(took: number[], late: number[], seconds: number): McpFigures {
  return { perSecond: took.length / seconds, p50: at(took, 0.5), p99: at(took, 0.99), late: at(late, 0.99) };
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}
