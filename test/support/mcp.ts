import { request } from 'node:http';
import { type Box, startBox } from './box.ts';

export interface Said {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The body as JSON, or undefined. */
  json: Record<string, unknown> | undefined;
}

/** One HTTP request with exactly these headers; a list of values is sent as several header lines. */
export function http(
  method: string,
  url: string,
  headers: Record<string, string | string[]> = {},
  body = '',
): Promise<Said> {
  return new Promise((resolve, reject) => {
    const queried = request(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
      });
    });
    queried.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed an idle connection while the request was on its way. A connection of its own must not end so.
      if (queried.reusedSocket && error.code === 'ECONNRESET') resolve(http(method, url, headers, body));
      else reject(error);
    });
    queried.end(body);
  });
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

let id = 0;

/** A JSON-RPC request as curl would send it. */
export function rpc(
  base: string,
  method: string,
  params: object = {},
  headers: Record<string, string> = {},
): Promise<Said> {
  const message = { jsonrpc: '2.0', id: ++id, method, params };
  return http('POST', `${base}/mcp`, { 'content-type': 'application/json', ...headers }, JSON.stringify(message));
}

/** The outcome of a tool that was called over MCP. */
export function outcome(said: Said): Record<string, unknown> {
  const result = said.json?.['result'] as { structuredContent?: Record<string, unknown> } | undefined;
  if (result?.structuredContent === undefined) throw new Error(`no result: ${said.status} ${said.text.slice(0, 300)}`);
  return result.structuredContent;
}

/** The protocol error of an answer. */
export function errorOf(said: Said): { code: number; message: string } {
  const error = said.json?.['error'];
  if (typeof error !== 'object' || error === null)
    throw new Error(`no error: ${said.status} ${said.text.slice(0, 300)}`);
  return error as { code: number; message: string };
}

/** The names in an answer to tools/list. */
export function toolNames(said: Said): string[] {
  const result = said.json?.['result'];
  if (typeof result !== 'object' || result === null)
    throw new Error(`no list: ${said.status} ${said.text.slice(0, 300)}`);
  return (result as { tools: { name: string }[] }).tools.map((one) => one.name);
}

/** Calls a tool over REST. */
export async function tool(
  base: string,
  name: string,
  args: object = {},
  token?: string,
): Promise<Said & { body: Record<string, unknown> }> {
  const said = await http(
    'POST',
    `${base}/api/tools/${name}`,
    { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    JSON.stringify(args),
  );
  return { ...said, body: said.json ?? {} };
}

/** A new organization of its own: its token and id. */
export async function newOrganization(base: string, name: string): Promise<{ token: string; id: string }> {
  const { body, text } = await tool(base, 'create_own_organization', { organizationName: name });
  const organization = body['organization'] as { id: string } | undefined;
  if (organization === undefined) throw new Error(text);
  return { token: String(body['token']), id: organization.id };
}

/** A box whose limits do not count this machine, with an organization on it; `token` may do everything there. */
export async function organizationBox(name: string): Promise<{ box: Box; base: string; token: string }> {
  const box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  const base = `http://127.0.0.1:${box.port('http')}`;
  return { box, base, token: (await newOrganization(base, name)).token };
}
