import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Answered {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

/** One HTTP request from an address of loopback, on a connection of its own. */
export async function askFrom(
  from: string,
  port: number,
  path: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answered> {
  const at = { host: '127.0.0.1', port, path, localAddress: from, agent: false };
  const sent = request({ ...at, method, headers }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}
