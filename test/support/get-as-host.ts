import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

/** Fetches a URL under another host name, which fetch does not allow. */
export async function getAsHost(url: string, host?: string): Promise<{ status: number; type: string; body: string }> {
  const { hostname, port, pathname, search } = new URL(url);
  const request = get({ hostname, port, path: `${pathname}${search}`, headers: { host: host ?? hostname } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return {
    status: response.statusCode ?? 0,
    type: response.headers['content-type'] ?? '',
    body: Buffer.concat(chunks).toString(),
  };
}
