import { askServer } from '../control/client.ts';

/** Where the server's MCP endpoint is. */
export interface Place {
  url: URL;
  /** How the server calls itself, when it is reached by another name. */
  host?: string;
  /** It is on this machine, and its certificate is for its public name. */
  ownMachine?: true;
}

interface Status {
  baseUrl: string;
  listen: string[];
  listeners: { http?: number; https?: number };
}

/** From `--url`: the address of the box, or of its endpoint. A sentence when it is none. */
export function placeOf(text: string): Place | { problem: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return { problem: `--url must be like https://mail.example.com, not ${text}` };
  }
  if (url.pathname === '/') url.pathname = '/mcp';
  return { url };
}

/** The server that runs on a data directory, which says itself where it listens. */
export async function placeOfServer(dataDir: string): Promise<Place | { problem: string }> {
  const answer = await askServer(dataDir, 'get_status', {});
  if (answer.kind !== 'done') return { problem: answer.message };
  const { baseUrl, listen, listeners } = answer.result as Status;
  const port = listeners.http ?? listeners.https;
  if (port === undefined) return { problem: 'The server has no HTTP door: open one with MAILSTEAD_HTTP_PORT.' };
  const scheme = listeners.http === undefined ? 'https' : 'http';
  return {
    url: new URL(`${scheme}://${nearAddress(listen)}:${port}/mcp`),
    host: new URL(baseUrl).host,
    ownMachine: true,
  };
}

/** An address of this machine at which a server that listens on these is reached. */
export function nearAddress(listen: readonly string[]): string {
  if (listen.includes('127.0.0.1') || listen.includes('0.0.0.0')) return '127.0.0.1';
  const [first = '127.0.0.1'] = listen;
  if (listen.includes('::') || listen.includes('::1')) return '[::1]';
  return first.includes(':') ? `[${first}]` : first;
}
