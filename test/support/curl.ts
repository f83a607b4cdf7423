import { execFile, spawnSync } from 'node:child_process';

/** True if the machine has curl, which the journeys by curl need. */
export const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** Runs curl with these arguments; rejects with what it said when it fails. */
export function curl(...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('curl', ['-sS', '--max-time', '30', ...args], { maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`curl ${args.join(' ')}: ${stderr}`, { cause: error }));
    });
  });
}

/** An agent that has nothing but curl: tools over /mcp, with a bearer token once it has one. */
export class CurlAgent {
  readonly #base: string;
  token: string | undefined;

  constructor(base: string) {
    this.#base = base;
  }

  /** The outcome of a tool; rejects when the server refused, with what it said. */
  async tool<T = Record<string, unknown>>(name: string, args: object = {}): Promise<T> {
    const said = await this.try(name, args);
    if ('error' in said) throw new Error(`${name}: ${JSON.stringify(said)}`);
    return said as T;
  }

  /** The outcome of a tool, or the refusal. */
  async try(name: string, args: object = {}): Promise<Record<string, unknown>> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
    const bearer = this.token === undefined ? [] : ['-H', `Authorization: Bearer ${this.token}`];
    const text = await curl(`${this.#base}/mcp`, '-H', 'Content-Type: application/json', ...bearer, '-d', body);
    const { result, error } = JSON.parse(text) as { result?: { content: { text: string }[] }; error?: unknown };
    if (result === undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
    return JSON.parse(result.content[0]?.text ?? '') as Record<string, unknown>;
  }
}
